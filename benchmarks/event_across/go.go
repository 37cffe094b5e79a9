// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "weftbench/common/goharness"

// Go's scheduler decides where the two run, mostly on one processor.
func run(r *goharness.Run) {
	rounds := r.Size(500000, 200)
	ns := r.MedianNs(3, func() { goharness.Check(goharness.PingPong(rounds) == rounds, "event_across") })
	r.Metric("ns_per_round_trip", ns/float64(rounds))
}

func main() {
	goharness.Main("event_across", []goharness.Workload{{Name: "round-trip", Workers: []int{2}, Run: run}})
}
