// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync"
	"weftbench/common/goharness"
)

func compute(n int) int {
	if n < 2 {
		return n
	}
	var group sync.WaitGroup
	group.Add(1)
	a := 0
	go func() {
		a = compute(n - 1)
		group.Done()
	}()
	b := compute(n - 2)
	group.Wait()
	return a + b
}

func expected(n int) int {
	a, b := 0, 1
	for i := 0; i < n; i++ {
		a, b = b, a+b
	}
	return a
}

func run(r *goharness.Run) {
	n := r.Size(30, 15)
	result := 0
	ns := r.MedianNs(1, func() { result = compute(n) })
	goharness.Check(result == expected(n), "fib")
	r.Metric("ms", ns/1e6)
	r.Metric("ns_per_fork", ns/float64(expected(n+1)-1))
}

func main() {
	goharness.Main("fib", []goharness.Workload{{Name: "fib", Workers: []int{1, 2}, Run: run}})
}
