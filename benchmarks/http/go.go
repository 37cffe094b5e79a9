// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// net/http's server of files.
package main

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"weftbench/common/goharness"
)

func run(r *goharness.Run) {
	folder, err := os.MkdirTemp("", "weft-http-")
	goharness.Check(err == nil, "a folder")
	defer os.RemoveAll(folder)
	os.WriteFile(filepath.Join(folder, "small"), bytes.Repeat([]byte("s"), 1000), 0o644)
	os.WriteFile(filepath.Join(folder, "large"), bytes.Repeat([]byte("l"), 300000), 0o644)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	goharness.Check(err == nil, "listen")
	server := &http.Server{Handler: http.FileServer(http.Dir(folder))}
	go server.Serve(listener)
	file, connections, _ := strings.Cut(r.Workload, "-")
	r.MeasureByClient("bench_http_client", listener.Addr().(*net.TCPAddr).Port, connections, file, r.Size(4, 1), os.Getpid())
	server.Close()
}

func main() {
	goharness.Main("http", []goharness.Workload{
		{Name: "small-64", Workers: []int{1}, Run: run},
		{Name: "large-16", Workers: []int{1}, Run: run},
	})
}
