// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The module `weft.io`: what weft/io.h declares. Whoever imports it links weft::io, as with the header.
module;

#include <weft/io.h>

export module weft.io;

export import weft;

export namespace weft::io {
using weft::io::accept;
using weft::io::backend;
using weft::io::cancelAll;
using weft::io::close;
using weft::io::Command;
using weft::io::connect;
using weft::io::Endpoint;
using weft::io::Exit;
using weft::io::File;
using weft::io::fsync;
using weft::io::Listener;
using weft::io::onExit;
using weft::io::onNext;
using weft::io::onReadable;
using weft::io::onWritable;
using weft::io::open;
using weft::io::Output;
using weft::io::Process;
using weft::io::read;
using weft::io::readAll;
using weft::io::readAt;
using weft::io::readv;
using weft::io::recv;
using weft::io::recvmsg;
using weft::io::Redirect;
using weft::io::resolve;
using weft::io::run;
using weft::io::send;
using weft::io::sendAll;
using weft::io::sendmsg;
using weft::io::serve;
using weft::io::SignalInfo;
using weft::io::Signals;
using weft::io::Socket;
using weft::io::TimePoint;
using weft::io::UniqueFd;
using weft::io::Wait;
using weft::io::waitFor;
using weft::io::write;
using weft::io::writeAll;
using weft::io::writeAt;
using weft::io::writev;
}  // namespace weft::io
