// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	fleetv1 "example.com/fleet/api/fleet/v1"
)

// Attempts become rarer until the longest delay, and each delay varies by a fifth at most.
func TestDelays(t *testing.T) {
	m := member{options: Options{RetryMin: time.Second, RetryMax: 5 * time.Minute}}
	delays := m.delays()
	for n, least := 0, time.Second; n < 20; n, least = n+1, min(2*least, 5*time.Minute) {
		if d := delays.Step(); d < least || d > least+least/5 {
			t.Errorf("delay %d is %v, want %v or up to a fifth more", n, d, least)
		}
	}
}

// What is wrong is said in the terms of the condition, always in the same words, and without those of the server.
func TestProblemOf(t *testing.T) {
	secret := errors.New("s3cr3t")
	kind := schema.GroupResource{Group: "gpu.my.domain", Resource: "vgpuinstances"}
	untrusted := &tls.CertificateVerificationError{Err: x509.HostnameError{Host: "s3cr3t", Certificate: &x509.Certificate{DNSNames: []string{"s3cr3t"}}}}
	dial := &net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: 45678}, Err: syscall.ECONNRESET}
	for _, test := range []struct {
		err          error
		reason, says string
	}{
		{apierrors.NewUnauthorized("s3cr3t"), fleetv1.ReasonUnauthorized, "credentials"},
		{fmt.Errorf("list: %w", apierrors.NewForbidden(kind, "", secret)), fleetv1.ReasonForbidden, "config/member"},
		{apierrors.NewNotFound(kind, "s3cr3t"), fleetv1.ReasonKindMissing, "CRD"},
		{apierrors.NewInternalError(secret), fleetv1.ReasonUnreachable, "its status is 500"},
		{&url.Error{Op: "Get", URL: "https://s3cr3t", Err: dial}, fleetv1.ReasonUnreachable, "answer: connection reset by peer."},
		{&url.Error{Op: "Get", URL: "https://s3cr3t", Err: &net.DNSError{Err: "no such host", Name: "s3cr3t"}}, fleetv1.ReasonUnreachable, "name is not found"},
		{&url.Error{Op: "Get", URL: "https://s3cr3t", Err: untrusted}, fleetv1.ReasonUnreachable, "certificate"},
		{&url.Error{Op: "Get", URL: "https://s3cr3t", Err: &net.OpError{Op: "remote error", Err: secret}}, fleetv1.ReasonUnreachable, "TLS"},
		{&url.Error{Op: "Get", URL: "https://s3cr3t", Err: tls.RecordHeaderError{Msg: "s3cr3t"}}, fleetv1.ReasonUnreachable, "TLS"},
		{&url.Error{Op: "Get", URL: "https://s3cr3t", Err: secret}, fleetv1.ReasonUnreachable, "cannot be read"},
		{&url.Error{Op: "Get", URL: "https://s3cr3t", Err: context.DeadlineExceeded}, fleetv1.ReasonUnreachable, "too long"},
		{errSlow, fleetv1.ReasonUnreachable, "in time"},
		{secret, fleetv1.ReasonUnreachable, "cannot be read"},
	} {
		p := problemOf(test.err)
		if p.Reason != test.reason || !strings.Contains(p.Message, test.says) || strings.Contains(p.Message, "s3cr3t") || strings.Contains(p.Message, "45678") {
			t.Errorf("%v: %v", test.err, p)
		}
	}
}
