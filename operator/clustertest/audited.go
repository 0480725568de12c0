package clustertest

import (
	"errors"
	"slices"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/audit"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/protocol"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/session"
)

// Audited has the API server log the requests of ServiceAccounts, for [Account.Requests] and what is built on it. A
// cluster of [Cluster.Isolated] keeps a log of its own.
func Audited() Option {
	return func(s *settings) { s.audited = true }
}

// begin starts a cluster by start, which gets the spec of s and, if s asks for it, flags for a log of requests. The
// log's folder goes with the cluster.
func (s settings) begin(start func(protocol.Spec) (*Cluster, error)) (*Cluster, error) {
	if !s.audited {
		return start(s.spec)
	}
	dir, release, err := session.Claim()
	if err != nil {
		return nil, err
	}
	log, flags, err := audit.Prepare(dir)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	spec := s.spec
	spec.APIServerFlags = slices.Concat(spec.APIServerFlags, flags)
	c, err := start(spec)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	end := c.end
	c.audit, c.end = log, func() error { return errors.Join(end(), release()) }
	return c, nil
}
