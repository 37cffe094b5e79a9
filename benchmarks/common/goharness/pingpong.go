// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package goharness

// PingPong lets two goroutines send each other a number in turn, over unbuffered channels.
// It returns how many replies there were.
func PingPong(rounds int) int {
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
	return replies
}
