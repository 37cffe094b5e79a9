// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "weftbench/common/goharness"

func run(r *goharness.Run) {
	rounds := r.Size(500000, 1000)
	ns := r.MedianNs(3, func() { goharness.Check(goharness.PingPong(rounds) == rounds, "event") })
	r.Metric("ns", ns/float64(2*rounds))
}

func main() {
	goharness.Main("event", []goharness.Workload{{Name: "ping-pong-channel", Workers: []int{1}, Run: run}})
}
