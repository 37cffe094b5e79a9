// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/asio.h>

#include <gtest/gtest.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "asio_tools.h"
#include "with_scheduler.h"

#if WEFT_ASIO_BOOST
#include <boost/asio/ssl.hpp>
#else
#include <asio/ssl.hpp>
#endif

namespace weft {
namespace {

using asio::ip::tcp;
using tests::ErrorCode;
using tests::SystemError;
using Stream = asio::ssl::stream<tcp::socket>;

// A key and a certificate for "localhost" that it signs itself.
class Identity {
 public:
  Identity() {
    X509_set_version(certificate_, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate_), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate_), 3600);
    X509_set_pubkey(certificate_, key_);
    X509_NAME* const name = X509_get_subject_name(certificate_);
    const auto* text = reinterpret_cast<const unsigned char*>("localhost");
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
    X509_set_issuer_name(certificate_, name);
    X509_sign(certificate_, key_, EVP_sha256());
  }
  ~Identity() {
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  void serve(asio::ssl::context& context) const {
    SSL_CTX_use_certificate(context.native_handle(), certificate_);
    SSL_CTX_use_PrivateKey(context.native_handle(), key_);
  }
  void trust(asio::ssl::context& context) const {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.native_handle()), certificate_);
    context.set_verify_mode(asio::ssl::verify_peer);
  }

 private:
  EVP_PKEY* const key_ = EVP_EC_gen("P-256");
  X509* const certificate_ = X509_new();
};

class AsioTlsTest : public ::testing::Test {
 protected:
  AsioTlsTest() { identity_.serve(forServer_); }

  // As a task: answers what it reads with the same, until the other side ends the stream.
  // Returns: the error with which that ended, or with which the handshake failed.
  ErrorCode serve() {
    Stream stream(accept(), forServer_);
    ErrorCode error;
    stream.async_handshake(Stream::server, useFiber[error]);
    std::string bytes(4096, '\0');
    while (!error) {
      const size_t size = stream.async_read_some(asio::buffer(bytes), useFiber[error]);
      if (!error) {
        asio::async_write(stream, asio::buffer(bytes, size), useFiber);
      }
    }
    if (error == asio::error::eof) {
      stream.async_shutdown(useFiber[error]);
      error = asio::error::eof;
    }
    return error;
  }

  // An object of Asio is not for several fibers at the same time, which may run on different threads.
  tcp::socket accept() {
    const lock held(accepting_);
    return acceptor_.async_accept(useFiber);
  }

  Stream connect() {
    Stream stream(running_.context, forClient_);
    stream.next_layer().async_connect(acceptor_.local_endpoint(), useFiber);
    return stream;
  }

  const Identity identity_;
  asio::ssl::context forServer_{asio::ssl::context::tls_server};
  asio::ssl::context forClient_{asio::ssl::context::tls_client};
  tests::Running running_{2};
  tcp::acceptor acceptor_{running_.context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  mutex accepting_;
  Scheduler scheduler_{Scheduler::Config().setWorkerThreadCount(2)};
  Scheduler::Binding bound_{scheduler_};
};

TEST_F(AsioTlsTest, FibersTalkThroughTls) {
  identity_.trust(forClient_);
  constexpr int kClients = 8;
  WaitGroup done(2 * kClients);
  for (int client = 0; client < kClients; ++client) {
    schedule([&] {
      EXPECT_EQ(serve(), asio::error::eof);
      done.done();
    });
    schedule([&, client] {
      Stream stream = connect();
      stream.async_handshake(Stream::client, useFiber);
      const std::string sent(200'000, static_cast<char>('a' + client));
      std::string received(sent.size(), '\0');
      WaitGroup written(1);
      for (size_t at = 0; at < sent.size(); at += 20'000) {
        asio::async_write(stream, asio::buffer(&sent[at], 20'000), useFiber);
        asio::async_read(stream, asio::buffer(&received[at], 20'000), useFiber);
      }
      EXPECT_EQ(received, sent);
      ErrorCode error;
      stream.async_shutdown(useFiber[error]);
      done.done();
    });
  }
  done.wait();
}

TEST_F(AsioTlsTest, ACertificateThatIsNotTrustedFailsTheHandshake) {
  forClient_.set_verify_mode(asio::ssl::verify_peer);
  WaitGroup done(1);
  schedule([&] {
    EXPECT_TRUE(serve());
    done.done();
  });
  {
    Stream stream = connect();
    EXPECT_THROW(stream.async_handshake(Stream::client, useFiber), SystemError);
  }
  done.wait();
}

#if WEFT_ASIO_CAN_CANCEL
TEST_F(AsioTlsTest, AStopEndsAReadThroughTls) {
  identity_.trust(forClient_);
  std::stop_source source;
  WaitGroup done(1);
  schedule([&] {
    EXPECT_TRUE(serve());
    done.done();
  });
  schedule([&] { source.request_stop(); });
  {
    Stream stream = connect();
    stream.async_handshake(Stream::client, useFiber);
    char byte = 0;
    ErrorCode error;
    stream.async_read_some(asio::buffer(&byte, 1), useFiber(source.get_token())[error]);
    EXPECT_EQ(error, tests::aborted());
  }
  done.wait();
}
#endif

}  // namespace
}  // namespace weft
