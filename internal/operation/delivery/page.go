package delivery

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"github.com/slipway-dev/slipway/internal/explain/dashboard"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/web"
)

// A PageLink opens the page about a cluster, once.
type PageLink struct {
	URL string `json:"url"`
}

// Page serves the page about a cluster until ctx ends. With a kind and a name, its link leads to that object.
func Page(ctx context.Context, s *operation.Session, e Explanation) error {
	cluster, err := reach(s, e.In)
	if err != nil {
		return err
	}
	if err := cluster.Ping(ctx); err != nil {
		return err
	}
	route := "/"
	if e.Kind != "" {
		if route, err = pageOf(ctx, cluster, e); err != nil {
			return err
		}
	}
	server, err := openPage(ctx, s, cluster, e.In.Context)
	if err != nil {
		return err
	}
	link := server.Link(route)
	s.Handler.Handle(report.Result{Text: link, Value: PageLink{link}})
	s.Handler.Handle(report.Note{Text: "the link works once, in one browser; Ctrl-C ends the page"})
	return server.Serve(ctx)
}

// pageOf is the route of an object on the page.
func pageOf(ctx context.Context, cluster *ship.Cluster, e Explanation) (string, error) {
	served, err := e.Question.Served(ctx, cluster)
	if err != nil {
		return "", err
	}
	namespace := ""
	if served.Namespaced {
		namespace = cmp.Or(e.Namespace, cluster.Namespace())
	}
	words := []string{"/object", served.GroupResource().String(), namespace, e.Name}
	for i := range words[1:] {
		words[i+1] = url.PathEscape(words[i+1])
	}
	return strings.Join(words, "/"), nil
}

// A ShownPage is one that is served while a command does other work.
type ShownPage struct {
	*dashboard.Server
	cancel context.CancelFunc
	done   chan struct{}
}

// ShowPage serves the page about a cluster until Close or the end of ctx.
func ShowPage(ctx context.Context, s *operation.Session, cluster *ship.Cluster) (*ShownPage, error) {
	server, err := openPage(ctx, s, cluster, "")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	shown := &ShownPage{server, cancel, make(chan struct{})}
	go func() {
		defer close(shown.done)
		if err := server.Serve(ctx); err != nil {
			s.Handler.Handle(report.Warning{Text: "the page has ended: " + err.Error()})
		}
	}()
	return shown, nil
}

// Turn has the page show another cluster, which answers in place of the one before.
func (p *ShownPage) Turn(ctx context.Context, s *operation.Session, cluster *ship.Cluster) {
	p.Show(subjectOf(ctx, s, cluster, ""))
}

// Close ends the page.
func (p *ShownPage) Close() {
	p.cancel()
	<-p.done
}

// openPage returns a server of the page about a cluster, which has to be served. The name is that of the kubeconfig's
// context; it may be empty.
func openPage(ctx context.Context, s *operation.Session, cluster *ship.Cluster, name string) (*dashboard.Server, error) {
	server, err := dashboard.New(web.Files(), subjectOf(ctx, s, cluster, name))
	if err != nil {
		return nil, &report.Error{What: "the page has no port", Where: "127.0.0.1", Err: err}
	}
	return server, nil
}

// subjectOf is what the page shows of a cluster.
func subjectOf(ctx context.Context, s *operation.Session, cluster *ship.Cluster, name string) dashboard.Subject {
	of := dashboard.Subject{Cluster: cluster, About: dashboard.About{Context: cmp.Or(name, cluster.Server()), Server: cluster.Server()}}
	record, is := historyOf(ctx, s, cluster).(history)
	if !is {
		of.About.Unrecorded = "only clusters that slipway has started on this machine do"
		return of
	}
	of.Record, of.About.Recorded, of.About.Version = record, true, record.version
	of.About.Context = cmp.Or(name, record.logical, record.name)
	return of
}
