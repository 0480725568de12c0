package images

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/loaded"
	"github.com/slipway-dev/slipway/internal/image"
	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/report"
)

// Push pushes a stored image, or the one in an archive, to the registry in its name.
func Push(ctx context.Context, s *operation.Session, name, archive string) (image.Pushed, error) {
	if isArchive(name) {
		return image.Pushed{}, &report.Error{What: "an archive where the name of an image belongs", Where: name, Hint: "the name says where the image goes, like registry.example.com/operator:v1",
			Next: "slipway image push NAME --archive " + name, Code: report.UsageCode}
	}
	account, err := accountFor(ctx, s, name)
	if err != nil {
		return image.Pushed{}, err
	}
	p := image.Push{Ref: name, Account: account}
	if archive != "" {
		p.File = s.Absolute(archive)
	}
	pushed, err := image.New(s.Getenv, s.Handler).Push(ctx, p)
	if err != nil {
		return image.Pushed{}, err
	}
	s.Handler.Handle(report.Result{Text: "pushed " + pushed.Name + "\n" + pushed.Image, Value: pushed})
	reportPush(ctx, s, pushed.Name)
	return pushed, nil
}

// Load loads a stored image, or those in an archive, into an embedded cluster. It has a real node join that can run
// them.
func Load(ctx context.Context, s *operation.Session, name, cluster string) (LoadedImages, error) {
	before, err := clusterctl.New(s.Getenv, s.Handler).Status(ctx, clusters.ResolveName(s, cluster))
	if err != nil {
		return LoadedImages{}, err
	}
	if err := before.Problem(); err != nil {
		return LoadedImages{}, err
	}
	account, err := RegistryAccount(s, before.Name)
	if err != nil {
		return LoadedImages{}, err
	}
	l := image.Load{Ref: name, Registry: before.Registry, Account: account}
	if isArchive(name) {
		l.Ref, l.File = "", s.Absolute(name)
	}
	loaded, err := image.New(s.Getenv, s.Handler).Load(ctx, l)
	if err != nil {
		return LoadedImages{}, err
	}
	joined, err := JoinForImages(ctx, s, before)
	if err != nil {
		return LoadedImages{}, err
	}
	answer := LoadedImages{loaded, joined}
	s.Handler.Handle(report.Result{Text: loadedText(loaded, before.Name, joined), Value: answer})
	return answer, nil
}

// isArchive reports whether a name is an archive's. Names of images do not end like these.
func isArchive(name string) bool {
	return slices.ContainsFunc([]string{".tar", ".tar.gz", ".tgz"}, func(suffix string) bool { return strings.HasSuffix(strings.ToLower(name), suffix) })
}

// LoadedImages is the result of [Load]; the JSON form is stable.
type LoadedImages struct {
	image.Loaded

	Node *clusterctl.Joined `json:"node,omitempty"` // nil if no node had to join
}

// JoinForImages has a real node join a cluster that has none and can have one. Before is the cluster's status. It
// returns nil if no node had to join.
func JoinForImages(ctx context.Context, s *operation.Session, before *clusterctl.Status) (*clusterctl.Joined, error) {
	if before.Nodes == nil || !before.Nodes.Joins || before.Nodes.Real > 0 {
		return nil, nil
	}
	joined, err := clusterctl.New(s.Getenv, s.Handler).Join(ctx, before.Name)
	return &joined, err
}

func loadedText(l image.Loaded, cluster string, joined *clusterctl.Joined) string {
	var lines []string
	for _, i := range l.Images {
		lines = append(lines, "cluster "+cluster+" has "+i.Name+"\n"+i.Digest)
	}
	if joined != nil {
		lines = append(lines, clusters.DescribeJoin(*joined))
	}
	return strings.Join(lines, "\n")
}

// reportPush reports obstacles to running an image that was pushed to an embedded cluster's registry.
func reportPush(ctx context.Context, s *operation.Session, image string) {
	host := reference.Registry(image)
	owner := clusters.Running(ctx, s, func(s *clusterctl.Status) bool { return loaded.Same(s.Registry, host) })
	if owner == nil {
		return
	}
	if current := clusters.Current(ctx, s); current != nil && current.Name != owner.Name {
		s.Handler.Handle(report.Warning{Text: host + " is the registry of cluster " + owner.Name + ", but the current context belongs to cluster " + current.Name +
			", whose nodes cannot pull from it: push to " + current.Registry + ", or `slipway image load " + image + " --cluster " + current.Name + "`"})
	}
	if owner.Nodes.Joins && owner.Nodes.Real == 0 && owner.Nodes.Problem != "" {
		s.Handler.Handle(report.Note{Text: "pods of cluster " + owner.Name + " stay simulated: " + owner.Nodes.Problem})
	}
}
