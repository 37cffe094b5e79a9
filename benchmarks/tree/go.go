// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A goroutine for each directory and for each batch of 16 files. So many files are read at once as there are
// threads, as nothing else holds them up.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"weftbench/common/goharness"
)

const (
	batch      = 16
	bufferSize = 64 * 1024
	space      = 1
	printable  = 2
)

var kinds = func() (kinds [256]uint8) {
	for c := '!'; c <= '~'; c++ {
		kinds[c] = printable
	}
	for _, c := range " \t\n\v\f\r" {
		kinds[c] = space
	}
	return
}()

type contents struct{ files, lines, words, bytes uint64 }

type walk struct {
	group sync.WaitGroup
	sum   contents
}

// count adds what is in data, and returns whether it ends inside a word, 0 or 1.
func (c *contents) count(data []byte, inWord uint8) uint8 {
	var lines, words uint64
	for _, b := range data {
		// Without branches, for they would be mispredicted at every word.
		kind := kinds[b]
		isPrintable := kind / printable
		words += uint64(isPrintable &^ inWord)
		inWord = inWord&^kind | isPrintable
		if b == '\n' {
			lines++
		}
	}
	c.lines += lines
	c.words += words
	c.bytes += uint64(len(data))
	return inWord
}

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

func (c *contents) readFile(path string) {
	file, err := os.Open(path)
	goharness.Check(err == nil, "a file")
	defer file.Close()
	buffer := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buffer)
	c.files++
	inWord := uint8(0)
	for {
		size, err := file.Read(buffer[:])
		inWord = c.count(buffer[:size], inWord)
		if err != nil {
			goharness.Check(err == io.EOF, "the end of a file")
			return
		}
	}
}

func (w *walk) readFiles(paths []string) {
	var own contents
	for _, path := range paths {
		own.readFile(path)
	}
	atomic.AddUint64(&w.sum.files, own.files)
	atomic.AddUint64(&w.sum.lines, own.lines)
	atomic.AddUint64(&w.sum.words, own.words)
	atomic.AddUint64(&w.sum.bytes, own.bytes)
	w.group.Done()
}

func (w *walk) listDirectory(path string) {
	entries, err := os.ReadDir(path)
	goharness.Check(err == nil, "a directory")
	var files []string
	for _, entry := range entries {
		found := filepath.Join(path, entry.Name())
		if entry.IsDir() {
			w.group.Add(1)
			go w.listDirectory(found)
		} else if files = append(files, found); len(files) == batch {
			w.group.Add(1)
			go w.readFiles(files)
			files = nil
		}
	}
	w.group.Add(1)
	w.readFiles(files)
	w.group.Done()
}

func run(r *goharness.Run) {
	self, _ := os.Executable()
	size := "full"
	if r.Tiny {
		size = "tiny"
	}
	generator := exec.Command(filepath.Join(filepath.Dir(filepath.Dir(self)), "bench_tree_generator"), size)
	input, _ := generator.StdinPipe()
	output, _ := generator.StdoutPipe()
	goharness.Check(generator.Start() == nil, "the generator")
	var root string
	var expected contents
	n, _ := fmt.Fscan(output, &root, &expected.files, &expected.lines, &expected.words, &expected.bytes)
	goharness.Check(n == 5, "the tree")
	ns := r.MedianNs(9, func() {
		var w walk
		w.group.Add(1)
		go w.listDirectory(root)
		w.group.Wait()
		goharness.Check(w.sum == expected, "tree")
	})
	r.Metric("ms", ns/1e6)
	input.Close()
	goharness.Check(generator.Wait() == nil, "the generator ends in order")
}

func main() {
	goharness.Main("tree", []goharness.Workload{{Name: "tree", Workers: []int{1, 2}, Run: run}})
}
