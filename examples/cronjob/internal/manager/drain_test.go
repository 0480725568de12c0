// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// TestServer: webhooks are ready once they have a certificate, keep the last one while the files do not fit, and
// close connections after their answers while they drain, so that no request meets a closed one.
func TestServer(t *testing.T) {
	t.Setenv("WEBHOOK_DRAIN", "1m")
	dir, port := t.TempDir(), freePort(t)
	var flags Flags
	fs := flag.NewFlagSet("", flag.PanicOnError)
	flags.Bind(fs)
	if err := fs.Parse([]string{"--webhook-host=127.0.0.1", "--webhook-port=" + strconv.Itoa(port), "--webhook-cert-path=" + dir}); err != nil {
		t.Fatal(err)
	}
	signal, stop := context.WithCancel(t.Context())
	server, ended := flags.webhooks(), make(chan error, 1)
	server.Register("/hook", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	ctx := flags.Drain(signal)
	go func() { ended <- server.Start(ctx) }()

	if server.StartedChecker()(nil) == nil {
		t.Fatal("ready without a certificate")
	}
	write(t, keyPair(t), dir)
	awaitReady(t, server)
	if err := os.WriteFile(filepath.Join(dir, "tls.key"), keyPair(t).Data["tls.key"], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := server.StartedChecker()(nil); err != nil {
		t.Errorf("with files that do not fit: %v", err)
	}

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	if post(t, client, port) {
		t.Error("the connection is closed before the manager is ending")
	}
	stop()
	<-signal.Done()
	for !post(t, client, port) { // the flag is set by another goroutine
	}
	if !post(t, client, port) {
		t.Error("the second connection is kept")
	}
	select {
	case err := <-ended:
		t.Errorf("the server ended at once: %v", err)
	default:
	}
}

// TestDrainEnds: the manager's context ends with the signal, or after the delay.
func TestDrainEnds(t *testing.T) {
	for _, delay := range []string{"", "1ms", "soon"} {
		t.Setenv("WEBHOOK_DRAIN", delay)
		signal, stop := context.WithCancel(t.Context())
		ctx := (&Flags{}).Drain(signal)
		if ctx.Err() != nil {
			t.Errorf("with %q it ends before the signal", delay)
		}
		stop()
		<-ctx.Done()
	}
}

// awaitReady returns when the server has been started and answers.
func awaitReady(t *testing.T, server webhook.Server) {
	t.Helper()
	deadline := time.After(5 * time.Minute)
	for {
		err := server.StartedChecker()(nil)
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatal(err)
		default:
		}
	}
}

// post reports whether the server closes the connection after its answer.
func post(t *testing.T, client *http.Client, port int) bool {
	t.Helper()
	response, err := client.Post("https://"+net.JoinHostPort("127.0.0.1", strconv.Itoa(port))+"/hook", "application/json", bytes.NewReader([]byte("{}")))
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return response.Close
}

// write writes what the manager finds in its Secret.
func write(t *testing.T, secret *corev1.Secret, dir string) {
	t.Helper()
	if err := writeSecret(&corev1.Secret{}, dir); err != nil {
		t.Fatal(err)
	}
	if err := writeSecret(secret, dir); err != nil {
		t.Fatal(err)
	}
	if mode, err := os.Stat(filepath.Join(dir, "tls.key")); err != nil || mode.Mode().Perm() != 0o600 {
		t.Errorf("the key's file is %v, %v", mode, err)
	}
}

// keyPair is a Secret with a certificate that signs itself.
func keyPair(t *testing.T) *corev1.Secret {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	return &corev1.Secret{Data: map[string][]byte{
		"ca.crt": text, "tls.crt": text, "tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}}
}

// freePort is a port that no program has at the moment.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}
