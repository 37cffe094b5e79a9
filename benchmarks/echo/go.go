// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A goroutine for each connection.
package main

import (
	"net"
	"os"
	"strconv"
	"strings"
	"weftbench/common/goharness"
)

func sendBack(connection net.Conn) {
	defer connection.Close()
	buffer := make([]byte, 4096)
	for {
		size, err := connection.Read(buffer)
		if err != nil {
			return
		}
		connection.Write(buffer[:size])
	}
}

func acceptAll(listener net.Listener) {
	for {
		connection, err := listener.Accept() // sets TCP_NODELAY
		if err != nil {
			return
		}
		go sendBack(connection)
	}
}

func run(r *goharness.Run) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	goharness.Check(err == nil, "listen")
	go acceptAll(listener)
	kind, number, isNumbered := strings.Cut(r.Workload, "-")
	count := 64
	if isNumbered {
		count, _ = strconv.Atoi(number)
	}
	if r.Tiny && count > 64 {
		count = 64
	}
	r.MeasureByClient("bench_echo_generator", listener.Addr().(*net.TCPAddr).Port, count, kind, r.Size(3000, 30), os.Getpid())
	listener.Close()
}

func main() {
	workloads := []goharness.Workload{}
	for _, name := range []string{"connections-1", "connections-64", "connections-256", "connections-1024", "churn", "open-64"} {
		workloads = append(workloads, goharness.Workload{Name: name, Workers: []int{1}, Run: run})
	}
	goharness.Main("echo", workloads)
}
