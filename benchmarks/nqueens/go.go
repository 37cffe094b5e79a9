// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync"
	"weftbench/common/goharness"
)

type board [16]int8

func isSafe(b *board, row, column int) bool {
	for i := 0; i < row; i++ {
		distance := int(b[i]) - column
		if distance == 0 || distance == row-i || distance == i-row {
			return false
		}
	}
	return true
}

func compute(b board, row, queens int) int {
	if row == queens {
		return 1
	}
	var counts [16]int
	children := 0
	var group sync.WaitGroup
	for column := 0; column < queens; column++ {
		if isSafe(&b, row, column) {
			next := b
			next[row] = int8(column)
			count := &counts[children]
			children++
			group.Add(1)
			go func() {
				*count = compute(next, row+1, queens)
				group.Done()
			}()
		}
	}
	group.Wait()
	sum := 0
	for i := 0; i < children; i++ {
		sum += counts[i]
	}
	return sum
}

func run(r *goharness.Run) {
	n := r.Size(11, 6)
	expected := r.Size(2680, 4)
	result := 0
	ns := r.MedianNs(3, func() { result = compute(board{}, 0, n) })
	goharness.Check(result == expected, "nqueens")
	r.Metric("ms", ns/1e6)
}

func main() {
	goharness.Main("nqueens", []goharness.Workload{{Name: "nqueens", Workers: []int{1, 2}, Run: run}})
}
