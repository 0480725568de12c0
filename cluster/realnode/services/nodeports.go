package services

import (
	"errors"
	"fmt"
	"syscall"

	corev1 "k8s.io/api/core/v1"
)

// FollowUnserved has f called with each Service that has a NodePort to which this machine cannot listen, once until it
// can. F returns at once. It is called before the proxy runs.
func (p *Proxy) FollowUnserved(f func(s *corev1.Service, why string)) { p.unserved = f }

// onHost is the listener for a NodePort.
func onHost(port corev1.ServicePort) key {
	return key{portOf("127.0.0.1", port.NodePort), port.Protocol, true}
}

// reportNodePort reports a listener that cannot be had, if it is a NodePort's.
func (p *Proxy) reportNodePort(k key, t target, err error) {
	s, gone := p.services.Services(t.namespace).Get(t.service)
	if p.unserved == nil || gone != nil {
		return
	}
	for _, port := range s.Spec.Ports {
		if port.NodePort != 0 && onHost(port) == k {
			p.unserved(s, unservedNodePort(port, err))
		}
	}
}

// unservedNodePort says why a NodePort cannot be had.
func unservedNodePort(port corev1.ServicePort, err error) string {
	why := err.Error()
	if errors.Is(err, syscall.EADDRINUSE) {
		why = "another program of this machine, or another cluster, uses it"
	}
	return fmt.Sprintf("NodePort %d/%s is not served on this machine until it can be: %s", port.NodePort, port.Protocol, why)
}
