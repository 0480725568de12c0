package services

import (
	"errors"
	"fmt"
	"syscall"

	corev1 "k8s.io/api/core/v1"
)

// FollowUnserved sets f, which receives each Service with a NodePort that this machine cannot listen on. Retries of the
// same port are not reported again. f must not block. FollowUnserved must be called before [Proxy.Run].
func (p *Proxy) FollowUnserved(f func(s *corev1.Service, why string)) { p.unserved = f }

// onHost returns the key of a NodePort's listener.
func onHost(port corev1.ServicePort) key {
	return key{portOf("127.0.0.1", port.NodePort), port.Protocol, true}
}

// reportNodePort reports a listener that failed, if it is a NodePort's.
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

func unservedNodePort(port corev1.ServicePort, err error) string {
	why := err.Error()
	if errors.Is(err, syscall.EADDRINUSE) {
		why = "another program of this machine, or another cluster, uses it"
	}
	return fmt.Sprintf("NodePort %d/%s is not served on this machine until it can be: %s", port.NodePort, port.Protocol, why)
}
