// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync"
	"sync/atomic"
	"weftbench/common/goharness"
)

func run(r *goharness.Run) {
	n := r.Size(1000000, 2000)
	ns := r.MedianNs(3, func() {
		var group sync.WaitGroup
		group.Add(n)
		for i := 0; i < n; i++ {
			go group.Done()
		}
		group.Wait()
	})
	r.Metric("ns_per_task", ns/float64(n))
}

func spawnCounted(n int) {
	left := int64(n)
	finished := make(chan bool)
	for i := 0; i < n; i++ {
		go func() {
			if atomic.AddInt64(&left, -1) == 0 {
				close(finished)
			}
		}()
	}
	<-finished
	goharness.Check(left == 0, "spawn")
}

func counter(r *goharness.Run) {
	n := r.Size(1000000, 2000)
	ns := r.MedianNs(3, func() { spawnCounted(n) })
	r.Metric("ns_per_task", ns/float64(n))
}

func thousand(r *goharness.Run) {
	n := r.Size(1000000, 2000)
	ns := r.MedianNs(3, func() {
		for i := 0; i < n; i += 1000 {
			spawnCounted(1000)
		}
	})
	r.Metric("ns_per_task", ns/float64(n))
}

func main() {
	goharness.Main("spawn", []goharness.Workload{
		{Name: "task", Workers: []int{1, 2}, Run: run},
		{Name: "task-counter", Workers: []int{1, 2}, Run: counter},
		{Name: "task-thousand", Workers: []int{1, 2}, Run: thousand},
	})
}
