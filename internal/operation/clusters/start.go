package clusters

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/clusterspec"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// An Option is a choice that users have for a cluster.
type Option = clusterspec.Option

// Options are all of them.
func Options() []Option { return clusterspec.Options() }

// A Cluster is which cluster to start.
type Cluster struct {
	Name      string            // empty for DefaultCluster
	Flags     clusterspec.Flags // what it consists of
	File      string            // --config: the path of what else says so, or - for stdin
	Image     string            // kind's image of a node, which has no effect
	NoContext bool              // leave the user's kubeconfig alone
	Timeout   time.Duration
}

// options are what the facade is to do. A description that comes from standard input is read. What has no effect in a
// configuration of kind is left.
func (c Cluster) options(stdin io.Reader) (o clusterctl.Options, left []report.Finding, err error) {
	if c.Timeout <= 0 {
		return clusterctl.Options{}, nil, &report.Error{
			What: "invalid timeout " + c.Timeout.String(), Where: "--timeout", Hint: "use a duration like 30s or 2m",
		}
	}
	spec, err := c.Flags.Spec("slipway cluster start")
	o = clusterctl.Options{Spec: spec, Record: true, NoContext: c.NoContext, Timeout: c.Timeout}
	if err != nil || c.File == "" {
		return o, nil, err
	}
	file, err := clusterspec.Read(c.File, stdin)
	o.Spec, o.Whole = clusterspec.Merge(spec, file.Spec), true
	return o, file.Left, err
}

// Start starts a cluster in the background, waits until it is ready and selects its context. It returns the status
// then; Already says that the cluster was there.
func Start(ctx context.Context, s *operation.Session, c Cluster) (*clusterctl.Status, error) {
	o, left, err := c.options(s.Stdin)
	if err != nil {
		return nil, err
	}
	for _, f := range left {
		s.Handler.Handle(f)
	}
	if c.Image != "" {
		s.Handler.Handle(report.Warning{Text: "--image " + c.Image + " has no effect: the cluster has one version of Kubernetes, which slipway version prints"})
	}
	begin := time.Now()
	status, err := clusterctl.New(s.Getenv, s.Handler).Start(ctx, c.Name, o)
	if err != nil {
		return nil, err
	}
	s.Handler.Handle(report.Result{Text: started(status, time.Since(begin)), Value: status})
	return status, nil
}

// started says how to go on with a cluster.
func started(s *clusterctl.Status, elapsed time.Duration) string {
	var b strings.Builder
	if s.Already {
		fmt.Fprintf(&b, "cluster %s runs already: Kubernetes %s at %s\n", s.Name, s.Kubernetes, s.Server)
	} else {
		fmt.Fprintf(&b, "cluster %s is ready after %.1fs: Kubernetes %s at %s\n", s.Name, elapsed.Seconds(), s.Kubernetes, s.Server)
	}
	if s.Registry != "" {
		fmt.Fprintf(&b, "its pods can use images that are pushed to %s%s\n", s.Registry, usualPort(s.Registry))
	}
	if s.Context != "" {
		fmt.Fprintf(&b, "context %s is selected\n", s.Context)
	} else {
		fmt.Fprintf(&b, "kubeconfig: %s\n", s.Kubeconfig)
	}
	return b.String()
}

// usualPort warns of a registry that is not where one is wont to be.
func usualPort(registry string) string {
	_, port, _ := strings.Cut(registry, ":")
	if port == strconv.Itoa(clusterspec.DefaultRegistryPort) {
		return ""
	}
	return fmt.Sprintf("; port %d belongs to another program", clusterspec.DefaultRegistryPort)
}
