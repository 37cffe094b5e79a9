// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "weftbench/common/goharness"

func run(r *goharness.Run) {
	rounds := r.Size(500000, 1000)
	ns := r.MedianNs(3, func() {
		ping, pong := make(chan int), make(chan int)
		replies := 0
		go func() {
			for range ping {
				replies++
				pong <- replies
			}
			close(pong)
		}()
		for i := 0; i < rounds; i++ {
			ping <- i
			<-pong
		}
		close(ping)
		<-pong
		goharness.Check(replies == rounds, "event")
	})
	r.Metric("ns", ns/float64(2*rounds))
}

func main() {
	goharness.Main("event", []goharness.Workload{{Name: "ping-pong-channel", Workers: []int{1}, Run: run}})
}
