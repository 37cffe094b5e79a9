// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync"
	"weftbench/common/goharness"
)

func tinyWork(seed uint64) uint64 {
	x := seed + 1
	for i := 0; i < 60; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

func run(r *goharness.Run) {
	answers := make([]uint64, r.Size(500000, 2000))
	ns := r.MedianNs(3, func() {
		var group sync.WaitGroup
		group.Add(len(answers))
		for i := range answers {
			go func(i int) {
				answers[i] = tinyWork(uint64(i))
				group.Done()
			}(i)
		}
		group.Wait()
	})
	for i, answer := range answers {
		goharness.Check(answer == tinyWork(uint64(i)), "provider")
	}
	r.Metric("ns_per_task", ns/float64(len(answers)))
}

func main() {
	goharness.Main("provider", []goharness.Workload{{Name: "provider", Workers: []int{1, 2, 4, 8}, Run: run}})
}
