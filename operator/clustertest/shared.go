package clustertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

// Package is a cluster that the tests of one package share. It is started by the first test that asks for
// it, so that others do not wait for it, and stopped at the end of [Package.Main].
type Package struct {
	options []Option

	once    sync.Once
	cluster *Cluster
	err     error
}

// ForPackage returns a cluster for the tests of a package:
//
//	var shared = clustertest.ForPackage(clustertest.CRDs("../../config/crd/bases"))
//
//	func TestMain(m *testing.M) { shared.Main(m) }
//
//	func TestGuestbook(t *testing.T) {
//		c := shared.Cluster(t)
//		ns := c.Namespace(t)
//		…
//	}
func ForPackage(options ...Option) *Package { return &Package{options: options} }

// Cluster returns the cluster. When it cannot be started, t fails with the reason.
func (p *Package) Cluster(t testing.TB) *Cluster {
	t.Helper()
	p.once.Do(func() {
		// Not the context of t: others go on using the cluster.
		p.cluster, p.err = StartContext(context.Background(), p.options...)
	})
	if p.err != nil {
		fatal(t, p.err)
	}
	return p.cluster
}

// Main runs the tests of a package and stops the cluster. It is all that TestMain needs to do; the
// process then ends with the status of the tests.
func (p *Package) Main(m *testing.M) {
	m.Run()
	if err := p.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "clustertest:", fault.Text(err))
	}
}

// errOver is returned by [Package.Cluster] after [Package.Close].
var errOver = errors.New("the package's cluster was stopped")

// Close stops the cluster if it was started; it is for a TestMain that has more to do than [Package.Main].
func (p *Package) Close() error {
	p.once.Do(func() { p.err = errOver })
	if p.cluster == nil {
		return nil
	}
	return p.cluster.Close()
}
