// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync"
	"weftbench/common/goharness"
)

const ways = 10

func compute(first, leaves int) int {
	if leaves == 1 {
		return first
	}
	var group sync.WaitGroup
	group.Add(ways)
	var sums [ways]int
	share := leaves / ways
	for i := 0; i < ways; i++ {
		go func(i int) {
			sums[i] = compute(first+i*share, share)
			group.Done()
		}(i)
	}
	group.Wait()
	sum := 0
	for _, s := range sums {
		sum += s
	}
	return sum
}

func run(r *goharness.Run) {
	n := r.Size(1000000, 1000)
	result := 0
	ns := r.MedianNs(1, func() { result = compute(0, n) })
	goharness.Check(result == n*(n-1)/2, "skynet")
	r.Metric("ms", ns/1e6)
}

func main() {
	goharness.Main("skynet", []goharness.Workload{{Name: "skynet", Workers: []int{1, 2}, Run: run}})
}
