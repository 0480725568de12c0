// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	fleetv1 "example.com/fleet/api/fleet/v1"
)

// A Problem is why a member is not engaged, in the terms of the condition Ready.
type Problem struct{ Reason, Message string }

// Error makes a Problem an error.
func (p *Problem) Error() string { return p.Reason + ": " + p.Message }

// problemOf says what an error means. It quotes nothing that a server has sent, since the kubeconfig decides which
// server that is, and the same failure has the same words each time, so that it is written once.
func problemOf(err error) *Problem {
	switch {
	case apierrors.IsUnauthorized(err):
		return &Problem{fleetv1.ReasonUnauthorized, "The member does not accept the credentials. Put others into the Secret."}
	case apierrors.IsForbidden(err):
		return &Problem{fleetv1.ReasonForbidden, "The credentials may not list and watch VGPUInstances. Grant config/member/role.yaml there."}
	case apierrors.IsNotFound(err):
		return &Problem{fleetv1.ReasonKindMissing, "The member does not serve VGPUInstances. Install their CRD there."}
	case errors.Is(err, errSlow):
		return &Problem{fleetv1.ReasonUnreachable, "The member answers, but its objects did not arrive in time."}
	}
	return &Problem{fleetv1.ReasonUnreachable, "The member does not answer: " + cause(err) + "."}
}

// lasting reports whether an error of a watch will not go away by trying again soon.
func lasting(err error) bool {
	return apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) || apierrors.IsNotFound(err)
}

// cause is the reason of a failed request. Of its text nothing is used but what the operating system says: that of a
// name which is not found has the name, that of a certificate has what stands in it, and both were written by others.
func cause(err error) string {
	var status apierrors.APIStatus
	var timeout net.Error
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	var connection *net.OpError
	var system syscall.Errno
	switch {
	case errors.As(err, &status):
		return fmt.Sprintf("its status is %d", status.Status().Code)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "it takes too long"
	case errors.As(err, &name):
		return "its name is not found"
	case errors.As(err, &certificate):
		return "its certificate is not one that the kubeconfig trusts"
	case errors.As(err, &system):
		return system.Error()
	case errors.As(err, &plain), errors.As(err, &connection): // the latter is an alert of either side
		return "it does not agree to a connection with TLS"
	}
	return "the answer cannot be read"
}
