// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync"
	"weftbench/common/goharness"
)

//go:noinline
func atDepth(depth int) {
	if depth == 0 {
		runtime.Gosched()
	} else {
		atDepth(depth - 1)
	}
}

func measure(depth int) func(*goharness.Run) {
	return func(r *goharness.Run) {
		count := r.Size(1000000, 1000)
		ns := r.MedianNs(3, func() {
			var group sync.WaitGroup
			group.Add(2)
			last, changes := -1, 0
			body := func(who int) {
				for i := 0; i < count; i++ {
					if last != who {
						changes++
					}
					last = who
					atDepth(depth)
				}
				group.Done()
			}
			go body(0)
			go body(1)
			group.Wait()
			goharness.Check(changes > 2*count-count/10-3, "switch: the two did not alternate")
		})
		r.Metric("ns_per_switch", ns/float64(2*count))
	}
}

func main() {
	goharness.Main("switch", []goharness.Workload{
		{Name: "yield", Workers: []int{1}, Run: measure(0)},
		{Name: "yield-frames", Workers: []int{1}, Run: measure(6)},
	})
}
