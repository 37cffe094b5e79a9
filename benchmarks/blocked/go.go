// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"runtime/debug"
	"sync"
	"weftbench/common/goharness"
)

func run(r *goharness.Run) {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	n := r.Size(100000, 1000)
	for round := 0; round < 2; round++ {
		event := make(chan bool)
		var blocked, finished sync.WaitGroup
		blocked.Add(n)
		finished.Add(n)
		resident := goharness.ProcField("/proc/self/smaps_rollup", "Rss")
		ns := r.OnceNs(func() {
			for i := 0; i < n; i++ {
				go func() {
					blocked.Done()
					<-event
					finished.Done()
				}()
			}
			blocked.Wait()
		})
		if round == 0 {
			r.Metric("first_ns", ns/float64(n))
			grown := goharness.ProcField("/proc/self/smaps_rollup", "Rss") - resident
			r.Metric("resident_bytes", float64(grown)*1024/float64(n))
		} else {
			r.Metric("reused_ns", ns/float64(n))
		}
		ns = r.OnceNs(func() {
			close(event)
			finished.Wait()
		})
		if round == 1 {
			r.Metric("signal_ns", ns/float64(n))
		}
	}
}

func main() {
	goharness.Main("blocked", []goharness.Workload{{Name: "blocked", Workers: []int{1}, Run: run}})
}
