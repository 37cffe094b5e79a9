// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A goroutine for each connection.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
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
	kind, count := "last", 64
	if r.Workload == "churn" {
		kind = "churn"
	} else {
		count, _ = strconv.Atoi(r.Workload[strings.Index(r.Workload, "-")+1:])
	}
	if r.Tiny && count > 64 {
		count = 64
	}
	measure(r, listener.Addr().(*net.TCPAddr).Port, count, kind)
	listener.Close()
}

// As in problem.h.
func measure(r *goharness.Run, port, count int, kind string) {
	self, _ := os.Executable()
	generator := filepath.Join(filepath.Dir(filepath.Dir(self)), "bench_echo_generator")
	output, err := exec.Command(generator, strconv.Itoa(port), strconv.Itoa(count), kind,
		strconv.Itoa(r.Size(3000, 30)), strconv.Itoa(os.Getpid())).Output()
	goharness.Check(err == nil, "all messages come back")
	lines := bufio.NewScanner(strings.NewReader(string(output)))
	for lines.Scan() {
		var name string
		var value float64
		fmt.Sscan(lines.Text(), &name, &value)
		r.Metric(name, value)
	}
}

func main() {
	workloads := []goharness.Workload{}
	for _, name := range []string{"connections-1", "connections-64", "connections-256", "connections-1024", "churn"} {
		workloads = append(workloads, goharness.Workload{Name: name, Workers: []int{1}, Run: run})
	}
	goharness.Main("echo", workloads)
}
