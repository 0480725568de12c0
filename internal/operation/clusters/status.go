package clusters

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

// ShowStatus answers with what a cluster and each of its components is doing. It fails when the cluster does not
// run, and returns the status then, too.
func ShowStatus(ctx context.Context, s *operation.Session, name string) (*clusterctl.Status, error) {
	status, err := clusterctl.New(s.Getenv, s.Handler).Status(ctx, ResolveName(s, name))
	if err != nil {
		return nil, err
	}
	if status.Problem() == nil {
		if status.Storage, err = clusterctl.New(s.Getenv, s.Handler).Storage(ctx, status.Name); err != nil {
			return nil, err
		}
		warnOwed(ctx, s, status)
	}
	s.Handler.Handle(report.Result{Text: described(status), Value: status})
	return status, status.Problem()
}

// warnOwed warns of what a killed run of slipway has left in the cluster. It restores nothing: a status changes no
// cluster.
func warnOwed(ctx context.Context, s *operation.Session, status *clusterctl.Status) {
	folder, err := operation.StateFolder(s)
	if err != nil || !dev.Promised(folder) {
		return
	}
	cluster, err := ship.Connect(ship.Kubeconfig{Path: status.Kubeconfig}, s.Handler)
	var owed []string
	if err == nil {
		owed, err = dev.Owed(ctx, folder, cluster)
	}
	if err != nil {
		s.Handler.Handle(report.Warning{Text: "it is not known whether webhooks of an earlier slipway run are to be restored: " + err.Error()})
	}
	for _, what := range owed {
		s.Handler.Handle(report.Warning{Text: what + "; the next command that uses the cluster, such as slipway install, restores that"})
	}
}

// List answers with the clusters that run, that died, and that have kept data.
func List(ctx context.Context, s *operation.Session) ([]*clusterctl.Status, error) {
	all, err := clusterctl.New(s.Getenv, s.Handler).List(ctx)
	if err != nil {
		return nil, err
	}
	value := struct {
		Clusters []*clusterctl.Status `json:"clusters"`
	}{all}
	s.Handler.Handle(report.Result{Text: table(all), Value: value})
	return all, nil
}

// described shows a running cluster's status in columns; what is wrong with
// another one, its problem says.
func described(s *clusterctl.Status) string {
	if s.Problem() != nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cluster %s is %s, up %s\n", s.Name, s.State, uptime(s))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, line := range [][2]string{
		{"server", s.Server}, {"kubernetes", s.Kubernetes}, {"kubeconfig", s.Kubeconfig}, {"registry", s.Registry},
		{"context", cmp.Or(s.Context, "none")}, {"data", kept(s)}, {"storage", stored(s.Storage)}, {"record", recorded(s.Record)}, {"process", process(s)}, {"log", s.Log},
	} {
		if line[1] != "" { // known only once the cluster is ready
			fmt.Fprintf(w, "  %s\t%s\n", line[0], line[1])
		}
	}
	if s.Nodes != nil && s.Nodes.Problem != "" {
		fmt.Fprintf(w, "  pods\tstay simulated: %s\n", s.Nodes.Problem)
	}
	if text := egress(s.Nodes); text != "" {
		fmt.Fprintf(w, "  egress\t%s\n", text)
	}
	for _, c := range s.Components {
		fmt.Fprintf(w, "  %s\t%s\n", c.Name, saying(c))
	}
	for _, l := range s.Logical {
		fmt.Fprintf(w, "  logical %s\t%s\n", l.Name, l.Server)
	}
	for _, a := range s.Addresses {
		fmt.Fprintf(w, "  %s %s/%s\t%s\n", strings.ToLower(a.Kind), a.Namespace, a.Name, answering(a))
	}
	_ = w.Flush() // a strings.Builder takes everything
	if s.MoreAddresses > 0 {
		fmt.Fprintf(&b, "and %d addresses more: slipway kubectl get service,ingress --all-namespaces\n", s.MoreAddresses)
	}
	return b.String()
}

// egress says where pods reach beyond the cluster; nothing for a cluster whose nodes run no pods.
func egress(n *clusterctl.Nodes) string {
	switch {
	case n == nil || n.Real == 0 && !n.Joins:
		return ""
	case n.Plain:
		return "pods of plain nodes use this machine's network"
	case n.Egress:
		return "on: pods of isolated nodes reach the network, but not this machine"
	}
	return "off: pods of isolated nodes reach only the cluster"
}

// answering is where a Service or an Ingress answers, or why it does not. TCP is what most do.
func answering(a clusterctl.Address) string {
	text := a.At
	if a.Protocol != "" && a.Protocol != "TCP" {
		text += "/" + a.Protocol
	}
	if !strings.HasSuffix(a.At, fmt.Sprint(":", a.Port)) {
		text += fmt.Sprintf(", for port %d", a.Port)
	}
	if a.Problem != "" {
		text += ", does not answer: " + a.Problem
	}
	return text
}

// recorded is how much the record of what happened holds, and what is wrong with it; nothing for a cluster without one.
func recorded(r *clusterctl.Record) string {
	if r == nil {
		return ""
	}
	text := fmt.Sprintf("%.1f of %d MiB", float64(r.Bytes)/(1<<20), r.Limit>>20)
	if !r.Oldest.IsZero() {
		text += ", since " + r.Oldest.Local().Format(time.DateTime)
	}
	if r.Missed+r.Damaged > 0 {
		text += fmt.Sprintf("; %d entries are missing", r.Missed+r.Damaged)
	}
	if r.Problem != "" {
		text += "; " + ansi.Plain(r.Problem)
	}
	return text
}

// saying is what a component is doing.
func saying(c clusterctl.Component) string {
	if c.Message == "" {
		return string(c.State)
	}
	return string(c.State) + ", " + c.Message
}

// process is the id of the cluster's process, and the memory that it takes.
func process(s *clusterctl.Status) string {
	if s.RSSBytes == 0 {
		return fmt.Sprint(s.PID)
	}
	return fmt.Sprintf("%d, %d MiB of memory", s.PID, s.RSSBytes>>20)
}

// stored is what images and volumes take on the disk. Clusters that run no pods have no images on nodes and no data of
// volumes.
func stored(s *clusterctl.Storage) string {
	if s == nil {
		return ""
	}
	text := "registry " + operation.FormatSize(s.Registry)
	for _, part := range []struct {
		name  string
		bytes int64
	}{{"images on nodes ", s.NodeImages}, {"volumes ", s.Volumes}} {
		if part.bytes > 0 {
			text += ", " + part.name + operation.FormatSize(part.bytes)
		}
	}
	if s.Incomplete {
		text += "; at least, since not all files could be counted"
	}
	return text
}

// kept says what becomes of the cluster's data.
func kept(s *clusterctl.Status) string {
	switch {
	case s.Unknown != "":
		return "kept: " + s.Unknown
	case s.Durable:
		return "kept"
	}
	return "deleted when it stops"
}

// table shows clusters in columns.
func table(all []*clusterctl.Status) string {
	if len(all) == 0 {
		return "there are no clusters; `slipway cluster start` starts one"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tUP\tKUBERNETES\tNODES\tDATA\tSERVER")
	for _, s := range all {
		data := "thrown away"
		if s.Durable {
			data = "kept"
		}
		up := ""
		if s.UptimeMs > 0 {
			up = uptime(s).String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, s.State, cmp.Or(up, "-"), cmp.Or(s.Kubernetes, "-"), nodeKinds(s), data, cmp.Or(s.Server, "-"))
	}
	_ = w.Flush() // a strings.Builder takes everything
	return b.String()
}

// nodeKinds says how many nodes of each kind a cluster has.
func nodeKinds(s *clusterctl.Status) string {
	var kinds []string
	if s.Nodes != nil && s.Nodes.Simulated > 0 {
		kinds = append(kinds, fmt.Sprintf("%d simulated", s.Nodes.Simulated))
	}
	if s.Nodes != nil && s.Nodes.Real > 0 {
		kinds = append(kinds, fmt.Sprintf("%d real", s.Nodes.Real))
	}
	return cmp.Or(strings.Join(kinds, ", "), "-")
}

func uptime(s *clusterctl.Status) time.Duration {
	return (time.Duration(s.UptimeMs) * time.Millisecond).Round(time.Second)
}

// Running returns the embedded cluster that is as wanted; nil for none. It is asked for to say more, so failures do
// not matter.
func Running(ctx context.Context, s *operation.Session, is func(*clusterctl.Status) bool) *clusterctl.Status {
	all, err := clusterctl.New(s.Getenv, s.Handler).List(ctx)
	if err != nil {
		return nil
	}
	at := slices.IndexFunc(all, func(c *clusterctl.Status) bool { return c.State == clusterctl.Running && c.Nodes != nil && is(c) })
	if at < 0 {
		return nil
	}
	return all[at]
}

// Embedded returns the embedded cluster that a cluster is; nil if it is none of slipway's own on this machine.
func Embedded(ctx context.Context, s *operation.Session, cluster *ship.Cluster) *clusterctl.Status {
	home, err := state.Locate(s.Getenv)
	if err != nil {
		return nil
	}
	own, ok, err := home.Own(ctx, cluster)
	if err != nil || !ok {
		return nil
	}
	return Running(ctx, s, func(s *clusterctl.Status) bool { return s.Name == own.Name })
}

// Current is the embedded cluster of the current context; nil if it is another one.
func Current(ctx context.Context, s *operation.Session) *clusterctl.Status {
	cluster, err := ship.Connect(ship.Kubeconfig{List: s.Getenv("KUBECONFIG")}, s.Handler)
	if err != nil {
		return nil
	}
	return Embedded(ctx, s, cluster)
}
