package manager

import (
	"bytes"
	"slices"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// Code is what a verb adds to the manager's code.
type Code struct {
	Scheme plan.Pieces // registers types; may be nil
	SetUp  plan.Pieces
	Skip   bool // the user adds all of it; see --skip-wiring
}

// Wire plans the code in the file that find returns. Code without a certain place is left to the user, with the reason
// and the lines; see [plan.Plan.Left].
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

// holder returns the file that has the set-up already, or "".
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

// put plans the pieces, or leaves them to the user if the file has no place for them.
func put(p *plan.Plan, file string, of plan.Pieces) error {
	c, err := p.Find(file)
	if err != nil {
		return err
	}
	return p.InsertIfPlaced(file, of, piece.ByHand(of(c.After())))
}

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

// Insert plans pieces that the caller cannot do without: it returns an error if the file is not certain.
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

// RolesByMarkers reports whether kubebuilder made the project for one namespace: then its permission markers name the
// namespace. A project that also binds a ClusterRole does not count.
func RolesByMarkers(p *plan.Plan) (bool, error) {
	c, err := p.Find(RoleBindingFile)
	if err != nil {
		return false, err
	}
	return c.There() && bindsRole().Match(c.After()) && !bindsClusterRole().Match(c.After()), nil
}
