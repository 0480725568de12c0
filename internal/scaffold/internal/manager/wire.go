package manager

import (
	"bytes"
	"slices"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// Code is what a verb adds to the manager. Each part is in its file as a whole, or not at all.
type Code struct {
	Scheme plan.Pieces // registers types; may be nil
	SetUp  plan.Pieces
	Skip   bool // all of it is left to the user
}

// Wire plans the code in the file that find finds. What has no certain place there is left to the user, with the place
// that lacks it.
func (c Code) Wire(p *plan.Plan, of *project.Project, find func(*plan.Plan, *project.Project) (Main, error)) error {
	main, err := find(p, of)
	if err != nil {
		return err
	}
	if main.File == "" {
		main.File = c.holder(main.several)
	}
	if main.File == "" || c.Skip {
		return c.leave(p, main)
	}
	if c.Scheme != nil {
		file, err := schemeFile(p, main.File)
		if err != nil {
			return err
		}
		if err := put(p, file, c.Scheme); err != nil {
			return err
		}
	}
	return put(p, main.File, c.SetUp)
}

// holder is the one of several files that has the set-up already, or "".
func (c Code) holder(several []*plan.File) string {
	has := func(f *plan.File) bool {
		out, err := c.SetUp.Insert(f.Path(), f.After())
		return err == nil && bytes.Equal(out, f.After())
	}
	if i := slices.IndexFunc(several, has); i >= 0 {
		return several[i].Path()
	}
	return ""
}

// put plans pieces in a file that has a place for them, or else leaves them to the user.
func put(p *plan.Plan, file string, of plan.Pieces) error {
	c, err := p.Find(file)
	if err != nil {
		return err
	}
	return p.InsertIfPlaced(file, of, piece.ByHand(of(c.After())))
}

// leave leaves all of the code to the user.
func (c Code) leave(p *plan.Plan, main Main) error {
	var src []byte
	if main.File != "" {
		file, err := p.Find(main.File)
		if err != nil {
			return err
		}
		src = file.After()
	}
	pieces := c.SetUp(src)
	if c.Scheme != nil {
		pieces = append(c.Scheme(src), pieces...)
	}
	lines := piece.ByHand(pieces)
	switch {
	case lines == "":
	case c.Skip && main.File != "":
		p.Leave("--skip-wiring leaves the manager's code to you; add these lines to " + main.File + ":\n" + lines)
	case c.Skip:
		p.Leave("--skip-wiring leaves the manager's code to you; add these lines:\n" + lines)
	default:
		p.Leave(main.Unclear.Where + ": " + main.Unclear.What + "; add these lines where your code sets up the manager:\n" + lines)
	}
	return nil
}

// Insert plans pieces in the file, which a feature cannot do without.
func (m Main) Insert(p *plan.Plan, of plan.Pieces) error {
	if m.File == "" {
		return m.Unclear
	}
	return p.Insert(m.File, of)
}

const RoleBindingFile = "config/rbac/role_binding.yaml"

var (
	bindsRole        = lazy.Regexp(`(?m)^kind:\s*RoleBinding\s*$`)
	bindsClusterRole = lazy.Regexp(`(?m)^kind:\s*ClusterRoleBinding\s*$`)
)

// RolesByMarkers reports whether the project was made by another tool for one namespace:
// then each permission marker names it. A manager with permissions in the whole cluster besides was not.
func RolesByMarkers(p *plan.Plan) (bool, error) {
	c, err := p.Find(RoleBindingFile)
	if err != nil {
		return false, err
	}
	return c.There() && bindsRole().Match(c.After()) && !bindsClusterRole().Match(c.After()), nil
}
