// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package goharness is harness.h for the Go programs: same arguments, same JSON lines.
package goharness

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"time"
)

// Run is one measurement: a workload with a number of workers (GOMAXPROCS).
type Run struct {
	Workload string
	Workers  int
	Tiny     bool
	metrics  []string
}

// Workload names what a program offers, and the worker counts it can be run with.
type Workload struct {
	Name    string
	Workers []int
	Run     func(*Run)
}

// Size chooses between the full and the toy size.
func (r *Run) Size(full, tiny int) int {
	if r.Tiny {
		return tiny
	}
	return full
}

// Metric records one figure.
func (r *Run) Metric(name string, value float64) {
	r.metrics = append(r.metrics, fmt.Sprintf("%q: %.6g, ", name, value))
}

// Check ends the process unless ok.
func Check(ok bool, what string) {
	if !ok {
		fmt.Fprintln(os.Stderr, "oracle failed:", what)
		os.Exit(1)
	}
}

// MeasureByClient runs a client, which lies in the folder above this program, with arguments. Its figures, which
// it prints each with its name, become those of r.
func (r *Run) MeasureByClient(client string, arguments ...any) {
	self, _ := os.Executable()
	words := strings.Fields(fmt.Sprintln(arguments...))
	output, err := exec.Command(filepath.Join(filepath.Dir(filepath.Dir(self)), client), words...).Output()
	Check(err == nil, "the client gets what it should")
	lines := bufio.NewScanner(strings.NewReader(string(output)))
	for lines.Scan() {
		var name string
		var value float64
		fmt.Sscan(lines.Text(), &name, &value)
		r.Metric(name, value)
	}
}

// OnceNs returns the time that f takes, in nanoseconds.
func (r *Run) OnceNs(f func()) float64 {
	begin := time.Now()
	f()
	return float64(time.Since(begin).Nanoseconds())
}

// MedianNs calls f once to warm up, then repeats times, and returns the median time of the latter.
func (r *Run) MedianNs(repeats int, f func()) float64 {
	f()
	if r.Tiny {
		repeats = 1
	}
	times := []float64{}
	for i := 0; i < repeats; i++ {
		times = append(times, r.OnceNs(f))
	}
	sort.Float64s(times)
	return times[len(times)/2]
}

// ProcField returns the number behind key in a file of /proc, -1 if there is none.
func ProcField(path, key string) int64 {
	file, err := os.Open(path)
	if err != nil {
		return -1
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		if strings.HasPrefix(scanner.Text(), key+":") {
			var value int64
			fmt.Sscan(scanner.Text()[len(key)+1:], &value)
			return value
		}
	}
	return -1
}

func (r *Run) print(question string) {
	fmt.Printf("{\"question\": %q, \"library\": \"go\", \"workload\": %q, \"workers\": %d, ",
		question, r.Workload, r.Workers)
	fmt.Printf("\"metrics\": {%s\"peak_rss_kib\": %d}}\n",
		strings.Join(r.metrics, ""), ProcField("/proc/self/status", "VmHWM"))
}

// Main is the whole of a benchmark's main().
func Main(question string, workloads []Workload) {
	list := flag.Bool("list", false, "print the workloads")
	tiny := flag.Bool("tiny", false, "toy sizes")
	name := flag.String("workload", "", "run this workload only")
	workers := flag.Int("workers", -1, "run with this number of workers only")
	flag.Parse()
	matches := 0
	for _, w := range workloads {
		counts := w.Workers
		if *name == w.Name && *workers > 0 && len(w.Workers) > 1 {
			counts = []int{*workers}
		}
		for _, count := range counts {
			if (*name != "" && *name != w.Name) || (*workers >= 0 && *workers != count) {
				continue
			}
			matches++
			if *list {
				fmt.Printf("{\"workload\": %q, \"workers\": %d}\n", w.Name, count)
				continue
			}
			runtime.GOMAXPROCS(count)
			run := &Run{Workload: w.Name, Workers: count, Tiny: *tiny}
			w.Run(run)
			run.print(question)
		}
	}
	if matches == 0 {
		fmt.Fprintln(os.Stderr, "no such workload")
		os.Exit(2)
	}
}
