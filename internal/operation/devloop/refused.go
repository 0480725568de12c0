package devloop

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// permission is one that a manager lacks.
type permission struct{ group, resource, verb string }

// marker is that of controller-gen which grants the permission. Who lists objects follows them.
func (p permission) marker() string {
	verbs := p.verb
	if verbs == "list" || verbs == "watch" {
		verbs = "get;list;watch"
	}
	group := p.group
	if group == "" {
		group = `""`
	}
	return fmt.Sprintf("// +kubebuilder:rbac:groups=%s,resources=%s,verbs=%s", group, p.resource, verbs)
}

// asked looks at what the manager has asked the cluster for. Each permission that it lacks is shown once, with its
// marker and the place for it; so is each object that it writes again and again.
func (p *project) asked(r dev.Request) {
	p.mu.Lock()
	hot, is := p.writes.add(r, time.Now())
	p.mu.Unlock()
	if is && isNamed(r) {
		p.handler.Handle(hot)
	}
	if r.Status != http.StatusForbidden || !isNamed(r) {
		return
	}
	lacks := permission{r.Group, r.Resource, r.Verb}
	if r.Subresource != "" {
		lacks.resource += "/" + r.Subresource
	}
	p.mu.Lock()
	known := len(p.lacks) >= mostLacking || slices.ContainsFunc(p.lacks, func(other permission) bool { return other.marker() == lacks.marker() })
	if !known {
		p.lacks = append(p.lacks, lacks)
	}
	p.mu.Unlock()
	if known || !p.lacksRule(r) {
		return
	}
	f := report.Finding{Rule: report.RuleMissingPermission, Message: fmt.Sprintf("the manager may not %s %s: its role lacks a permission", lacks.verb, named(lacks)), Suggestion: "add " + lacks.marker()}
	if file, line := p.markerPlace(); file != "" {
		f.Position = report.Position{File: p.asks.Relative(filepath.Join(p.root, file)), Line: line}
	}
	p.handler.Handle(f)
}

// lacksRule reports whether it is the access rules that refuse a request: a quota, an admission webhook or a namespace
// that ends are answered alike.
func (p *project) lacksRule(r dev.Request) bool {
	ctx, cancel := context.WithTimeout(p.life, reviewPatience)
	defer cancel()
	p.mu.Lock()
	id := clusterctl.ServiceAccount(p.access.Namespace, p.access.Account)
	p.mu.Unlock()
	denied, known := p.around.Load().Cluster().Denies(ctx, r.User, id.Groups, &authorizationv1.ResourceAttributes{
		Namespace: r.Namespace, Verb: r.Verb, Group: r.Group, Version: r.Version, Resource: r.Resource, Subresource: r.Subresource, Name: r.Name})
	return denied || !known
}

// reviewPatience bounds the question after an access rule.
const reviewPatience = 5 * time.Second

// mostLacking bounds the permissions that are shown.
const mostLacking = 100

var (
	groupName    = lazy.Regexp(`^[a-z0-9.-]{0,253}$`)
	resourceName = lazy.Regexp(`^[a-z0-9-]{1,63}$`)
	verbs        = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
)

// isNamed reports whether a request names a resource as API servers do. What a program asks for is any text, and
// becomes a marker in Go code.
func isNamed(r dev.Request) bool {
	return groupName().MatchString(r.Group) && resourceName().MatchString(r.Resource) && (r.Subresource == "" || resourceName().MatchString(r.Subresource)) &&
		slices.Contains(verbs, r.Verb)
}

// named is a resource with its group.
func named(p permission) string {
	if p.group == "" {
		return p.resource
	}
	return p.resource + "." + p.group
}

// rbacMarker begins markers of permissions.
const rbacMarker = "// +kubebuilder:rbac:"

// markerPlace is where the markers of permissions are: behind the last one of the first controller that has some, or
// above that controller's method Reconcile. The file is empty if no controller is found.
func (p *project) markerPlace() (file string, line int) {
	code := p.code(operation.Apart(p.asks))
	controllers, err := code.Controllers()
	if err != nil {
		return "", 0
	}
	for _, c := range controllers {
		text, err := code.View().ReadFile(c.File)
		if err != nil {
			continue
		}
		if line := lineFor(text, c); line > 0 {
			return c.File, line
		}
	}
	return "", 0
}

// lineFor is the line of a controller's file that a marker is put in front of; 0 if there is none. Markers in the
// comment of a function have no effect: then the line is the comment's first one, and needs an empty line above it.
func lineFor(text []byte, c codebase.Controller) (line int) {
	n, comment := 0, 0 // comment is the first line of the comment that the line before belongs to
	for l := range strings.Lines(string(text)) {
		n++
		switch {
		case strings.HasPrefix(strings.Replace(l, "//+", "// +", 1), rbacMarker):
			line = n + 1
		case line == 0 && strings.HasPrefix(l, "func (") && strings.Contains(l, "*"+c.Type+") Reconcile("):
			return cmp.Or(comment, n)
		}
		if !strings.HasPrefix(l, "//") {
			comment = 0
		} else if comment == 0 {
			comment = n
		}
	}
	return line
}

// addMarkers writes the markers of all permissions that the manager has lacked. What follows from them is done as after
// each save.
func (p *project) addMarkers(context.Context) error {
	p.mu.Lock()
	lacks := p.lacks
	p.lacks = nil
	p.mu.Unlock()
	if len(lacks) == 0 {
		p.handler.Handle(report.Note{Text: "the manager lacks no permission that it has asked for"})
		return nil
	}
	file, line := p.markerPlace()
	if file == "" {
		return &report.Error{Class: report.BadProject, What: "no controller to add markers to", Where: p.root}
	}
	path := filepath.Join(p.root, filepath.FromSlash(file))
	text, err := safefs.ReadFile(path)
	if err != nil {
		return err
	}
	var markers strings.Builder
	for _, l := range lacks {
		markers.WriteString(l.marker() + "\n")
	}
	lines := slices.Collect(strings.Lines(string(text)))
	if line <= len(lines) && strings.TrimSpace(lines[line-1]) != "" {
		markers.WriteString("\n")
	}
	changed := strings.Join(lines[:line-1], "") + markers.String() + strings.Join(lines[line-1:], "")
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	folder, err := safefs.OpenFolder(p.root)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }() // it was only looked at
	name, _ := folder.Below(path)
	target, err := folder.Resolve(name) // a link of the repository may lead elsewhere
	if err != nil {
		return err
	}
	if err := safefs.Write(filepath.Join(p.root, filepath.FromSlash(target)), []byte(changed), info.Mode().Perm()); err != nil {
		return err
	}
	p.handler.Handle(report.File{Path: file, Action: report.Updated, Why: "markers of permissions"})
	return nil
}
