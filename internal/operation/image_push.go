package operation

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/image"
	"github.com/slipway-dev/slipway/internal/report"
)

// PushImage pushes an image that was built, or that of an archive, to the registry in its name.
func (s *Session) PushImage(ctx context.Context, name, archive string) error {
	if isArchive(name) {
		return &report.Error{What: "an archive where the name of an image belongs", Where: name, Hint: "the name says where the image goes, like registry.example.com/operator:v1",
			Next: "slipway image push NAME --archive " + name, Code: 2}
	}
	account, err := s.accountFor(ctx, name)
	if err != nil {
		return err
	}
	p := image.Push{Ref: name, Account: account}
	if archive != "" {
		p.File = s.absolute(archive)
	}
	pushed, err := s.images().Push(ctx, p)
	if err != nil {
		return err
	}
	s.Handler.Handle(report.Result{Text: "pushed " + pushed.Name + "\n" + pushed.Image, Value: pushed})
	s.reportPush(ctx, pushed.Name)
	return nil
}

// LoadImage puts an image that was built, or those of an archive, into an embedded cluster, and has a real node
// join that can run them.
func (s *Session) LoadImage(ctx context.Context, name, cluster string) error {
	before, err := s.clusters().Status(ctx, s.meant(cluster))
	if err != nil {
		return err
	}
	if err := before.Problem(); err != nil {
		return err
	}
	account, err := s.registryAccount(before.Name)
	if err != nil {
		return err
	}
	l := image.Load{Ref: name, Registry: before.Registry, Account: account}
	if isArchive(name) {
		l.Ref, l.File = "", s.absolute(name)
	}
	loaded, err := s.images().Load(ctx, l)
	if err != nil {
		return err
	}
	joined, err := s.joinForImages(ctx, before)
	if err != nil {
		return err
	}
	s.Handler.Handle(report.Result{Text: loadedText(loaded, before.Name, joined), Value: loadedImages{loaded, joined}})
	return nil
}

// isArchive says whether a name is a file's; images have none that ends like these.
func isArchive(name string) bool {
	return slices.ContainsFunc([]string{".tar", ".tar.gz", ".tgz"}, func(suffix string) bool { return strings.HasSuffix(strings.ToLower(name), suffix) })
}

// loadedImages are the images that a cluster has, and the node that runs their pods.
type loadedImages struct {
	image.Loaded

	Node *clusterctl.Joined `json:"node,omitempty"`
}

// joinForImages has a real node join a cluster in which images are of use then; before is how the cluster was.
func (s *Session) joinForImages(ctx context.Context, before *clusterctl.Status) (*clusterctl.Joined, error) {
	if before.Nodes == nil || !before.Nodes.Joins || before.Nodes.Real > 0 {
		return nil, nil
	}
	joined, err := s.clusters().Join(ctx, before.Name)
	return &joined, err
}

func loadedText(l image.Loaded, cluster string, joined *clusterctl.Joined) string {
	var lines []string
	for _, i := range l.Images {
		lines = append(lines, "cluster "+cluster+" has "+i.Name+"\n"+i.Digest)
	}
	if joined != nil {
		lines = append(lines, joinedText(*joined))
	}
	return strings.Join(lines, "\n")
}
