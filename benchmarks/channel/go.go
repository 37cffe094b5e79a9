// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "weftbench/common/goharness"

func pingPong(r *goharness.Run) {
	rounds := r.Size(500000, 1000)
	ns := r.MedianNs(3, func() { goharness.Check(goharness.PingPong(rounds) == rounds, "channel") })
	r.Metric("ns", ns/float64(2*rounds))
}

func stream(capacity int) func(r *goharness.Run) {
	return func(r *goharness.Run) {
		count := r.Size(2000000, 1000)
		ns := r.MedianNs(3, func() {
			values := make(chan int, capacity)
			go func() {
				for i := 0; i < count; i++ {
					values <- i
				}
				close(values)
			}()
			sum := 0
			for value := range values {
				sum += value
			}
			goharness.Check(sum == count*(count-1)/2, "channel")
		})
		r.Metric("ns", ns/float64(count))
	}
}

// One goroutine selects among two channels, each fed by another.
func selectTwo(r *goharness.Run) {
	count := r.Size(500000, 1000)
	ns := r.MedianNs(3, func() {
		left, right := make(chan int), make(chan int)
		feed := func(to chan int) {
			for i := 0; i < count; i++ {
				to <- i
			}
		}
		go feed(left)
		go feed(right)
		sum := 0
		for i := 0; i < 2*count; i++ {
			select {
			case value := <-left:
				sum += value
			case value := <-right:
				sum += value
			}
		}
		goharness.Check(sum == count*(count-1), "channel")
	})
	r.Metric("ns", ns/float64(2*count))
}

func main() {
	goharness.Main("channel", []goharness.Workload{
		{Name: "ping-pong", Workers: []int{1}, Run: pingPong},
		{Name: "stream-128", Workers: []int{1, 2}, Run: stream(128)},
		{Name: "stream-1024", Workers: []int{1, 2}, Run: stream(1024)},
		{Name: "select", Workers: []int{1, 2}, Run: selectTwo},
	})
}
