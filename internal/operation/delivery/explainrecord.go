package delivery

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/explain"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// Recent is a question about what the record of a cluster has of a last time.
type Recent struct {
	In    Target
	Since time.Duration
}

// record is the record of a cluster, which has to keep one.
func (r Recent) record(ctx context.Context, s *operation.Session) (explain.History, error) {
	cluster, err := reach(s, r.In)
	if err != nil {
		return nil, err
	}
	if past := historyOf(ctx, s, cluster); past != nil {
		s.Handler.Handle(report.Step{Name: "reading the record"})
		return past, nil
	}
	return nil, noRecord(cluster)
}

// noRecord is the error of a cluster without a record.
func noRecord(cluster *ship.Cluster) error {
	return &report.Error{
		What: "the cluster keeps no record", Where: cluster.Server(), Next: "slipway cluster start",
		Hint: "only clusters that `slipway cluster start` or `slipway dev` has started on this machine do",
	}
}

// ExplainRequests lists the requests that a cluster has refused, with the right that is missing.
func ExplainRequests(ctx context.Context, s *operation.Session, r Recent) error {
	record, err := r.record(ctx, s)
	if err != nil {
		return err
	}
	refused, err := explain.Requests(ctx, record, time.Now().Add(-r.Since))
	if err != nil {
		return err
	}
	s.Handler.Handle(report.Result{Text: refusedText(refused), Value: refused})
	return nil
}

// ExplainReconciles sums up what operators have done.
func ExplainReconciles(ctx context.Context, s *operation.Session, r Recent) error {
	record, err := r.record(ctx, s)
	if err != nil {
		return err
	}
	work, err := explain.Reconciles(ctx, record, time.Now().Add(-r.Since))
	if err != nil {
		return err
	}
	s.Handler.Handle(report.Result{Text: workText(work), Value: work})
	return nil
}

// workText sums up the work of operators for people.
func workText(work explain.Work) string {
	var b strings.Builder
	fmt.Fprintf(&b, "in the last %s:\n", time.Since(work.Since).Round(time.Second))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, c := range work.Controllers {
		controllerText(w, c)
	}
	for _, o := range work.Operators {
		fmt.Fprintf(w, "%s\n", plain(o.User))
		for _, row := range []struct {
			name    string
			tallies []explain.Tally
		}{{"woken by", o.Woken}, {"writes", o.Writes}, {"writes that changed nothing", o.Idle}, {"reads past the cache", o.Reads}, {"conflicts", o.Conflicts}, {"refused", o.Refused}, {"caches grow by", o.Cached}} {
			if text := talliesText(row.tallies); text != "" {
				fmt.Fprintf(w, "  %s\t%s\n", row.name, plain(text))
			}
		}
		for _, r := range o.Restless {
			fmt.Fprintf(w, "  never at rest\t%s\n", plain(fmt.Sprintf("%s, %s, the last one of %s", ship.RefText(r.Object), operation.Count(r.Times, "write"), cut(strings.Join(r.Fields, ", ")))))
		}
	}
	_ = w.Flush()
	if len(work.Operators)+len(work.Controllers) == 0 {
		return "no operator of `slipway dev` has done anything in the last " + time.Since(work.Since).Round(time.Second).String()
	}
	return strings.TrimRight(b.String(), "\n")
}

// controllerText is what a controller has done.
func controllerText(w io.Writer, c explain.ControllerWork) {
	fmt.Fprintf(w, "%s\n", plain("controller "+strings.TrimSuffix(c.Operator+"/"+c.Controller, "/")))
	if c.Reconciles > 0 {
		text := fmt.Sprintf("%d in %s, %.3g a minute", c.Reconciles, time.Since(c.Since).Round(time.Second), c.PerMinute)
		if c.LongestMs > 0 {
			text += fmt.Sprintf("; %.3g ms in the median, 95 %% within %.3g ms, the longest %.3g ms", c.MedianMs, c.P95Ms, c.LongestMs)
		}
		fmt.Fprintf(w, "  reconciles\t%s\n", text)
	}
	var results []string
	for _, result := range slices.Sorted(maps.Keys(c.Results)) {
		results = append(results, fmt.Sprintf("%s %d", result, c.Results[result]))
	}
	if len(results) > 0 {
		fmt.Fprintf(w, "  results\t%s\n", strings.Join(results, ", "))
	}
	if c.Errors > 0 {
		fmt.Fprintf(w, "  errors\t%d, the last one: %s\n", c.Errors, plain(cut(c.Newest)))
	}
	for _, kind := range c.Kinds[:min(len(c.Kinds), 3)] {
		if len(c.Kinds) > 1 {
			fmt.Fprintf(w, "  error kind\t%s: %s\n", operation.Count(kind.Times, "time"), plain(cut(kind.What)))
		}
	}
}

// talliesText has the largest counts.
func talliesText(all []explain.Tally) string {
	var parts []string
	for _, t := range all[:min(len(all), 5)] {
		parts = append(parts, fmt.Sprintf("%s %d", t.What, t.Times))
	}
	if more := len(all) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}

// refusedText lists refused requests for people.
func refusedText(r explain.Refused) string {
	if len(r.Requests) == 0 {
		return "no request was refused in the last " + time.Since(r.Since).Round(time.Second).String()
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, q := range r.Requests {
		resource := q.Resource
		if q.Group != "" {
			resource += "." + q.Group
		}
		fmt.Fprintf(w, "%s\t%s\t%s %s%s\t%s\t%s\n", ago(q.Last), operation.Count(q.Times, "time"), q.Verb, plain(resource), inNamespace(plain(q.Namespace)), plain(q.Reason), plain(q.By))
		fmt.Fprintf(w, "  %s\n", plain(cmp.Or(q.Marker, cut(q.Message))))
	}
	_ = w.Flush()
	return strings.TrimRight(b.String(), "\n")
}

// record is what an embedded cluster has of what happened.
type record interface {
	explain.History
	explain.Follower
}

// history is the record of an embedded cluster.
type history struct {
	control       *clusterctl.Control
	name, logical string
	version       string // of Kubernetes
}

// Record implements [explain.History].
func (h history) Record(ctx context.Context, q protocol.RecordQuery) (protocol.RecordPage, error) {
	q.Logical = h.logical
	return h.control.Record(ctx, h.name, q)
}

// FollowRecord implements [explain.Follower].
func (h history) FollowRecord(ctx context.Context, q protocol.RecordQuery, each func(protocol.RecordEntry) error) error {
	q.Logical = h.logical
	return h.control.FollowRecord(ctx, h.name, q, each)
}

// historyOf is the record of a cluster; nil if it is not one of this machine's, or keeps none.
func historyOf(ctx context.Context, s *operation.Session, cluster *ship.Cluster) record {
	control := clusterctl.New(s.Getenv, s.Handler)
	all, err := control.List(ctx)
	if err != nil {
		return nil // the cluster of the question is another one
	}
	for _, status := range all {
		if status.Server == cluster.Server() && status.Record != nil {
			return history{control, status.Name, "", status.Kubernetes}
		}
		for _, logical := range status.Logical {
			if logical.Server == cluster.Server() {
				return history{control, status.Name, logical.Name, status.Kubernetes}
			}
		}
	}
	return nil
}
