package feature

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// A state is that of a line in a kustomization, and of the feature that it is of.
type state int

const (
	absent state = iota
	commented
	listed
)

// foreign reports whether the feature is lines of kubebuilder's, be they in comments: its folder is there as a part of
// what is deployed that is listed among the resources, or a file in config/default is.
func (p *planner) foreign(f features.Name) (bool, error) {
	row := features.Of(f)
	if lines := row.Lines(); lines[0].Item == row.Component().Item {
		c, err := p.Find(p.component(f))
		return err == nil && c.There() && !regexp.MustCompile(`(?m)^kind:\s*Component\s*$`).Match(c.After()), err
	}
	for _, file := range row.Files {
		if there, err := p.Exists(file); err != nil || !there {
			return false, err
		}
	}
	_, is, err := p.main(f)
	return is != absent && !p.Recording(), err
}

// main is the line of kubebuilder's that says whether a feature is on, and its state.
func (p *planner) main(f features.Name) (features.Entry, state, error) {
	lines := features.Of(f).Lines()
	for _, e := range lines {
		if is, _, err := p.state(e); err != nil || is != absent {
			return e, is, err
		}
	}
	return lines[0], absent, nil
}

// kustomization is the file with an entry.
func (p *planner) kustomization(e features.Entry) string {
	if e.Folder == "" {
		return p.defaultConfig()
	}
	return p.Code().KustomizationFor("config/" + e.Folder)
}

// state is that of an entry, and the line of the first one, if it is there.
func (p *planner) state(e features.Entry) (state, int, error) {
	c, err := p.Find(p.kustomization(e))
	if err != nil {
		return absent, 0, err
	}
	if _, on := (piece.Section{Of: e}).Lines(c.After()); len(on) > 0 {
		return listed, on[0], nil
	}
	if off, _ := (piece.Section{Of: waiting{e, p, c.Path()}}).Lines(c.After()); len(off) > 0 {
		return commented, off[0], nil
	}
	return absent, 0, nil
}

// of is the state of a feature, the line that says so, and whether it is lines of kubebuilder's.
func (p *planner) of(f features.Name) (is state, line int, foreign bool, err error) {
	e := features.Of(f).Component()
	if foreign, err = p.foreign(f); foreign && err == nil {
		e, _, err = p.main(f)
	}
	if err != nil {
		return absent, 0, false, err
	}
	is, line, err = p.state(e)
	return is, line, foreign, err
}

// on reports whether the feature is on.
func (p *planner) on(f features.Name) (bool, error) {
	is, _, _, err := p.of(f)
	return is == listed, err
}

// enableForeign takes a feature out of its comments: its lines, and what the project's kinds add to them. What it needs
// of kubebuilder's comes with it.
func (p *planner) enableForeign(f features.Name) error {
	for _, needed := range features.Of(f).Needs {
		if foreign, err := p.foreign(needed); err != nil {
			return err
		} else if foreign {
			if err := p.enableForeign(needed); err != nil {
				return err
			}
		}
	}
	e, _, err := p.main(f)
	if err != nil {
		return err
	}
	if e.Folder == "" {
		line := piece.Switch{Item: piece.Item{List: e.List, Name: e.Item}, Section: piece.Section{Of: e}}
		if err := p.Insert(p.defaultConfig(), plan.These(line)); err != nil {
			return err
		}
	}
	if err := p.follow(f, true); err != nil {
		return err
	}
	if lines := p.parts(f).lines; lines != nil {
		return lines()
	}
	return nil
}

// comment puts a feature's lines into comments again. Its own line goes where it never was in one, since enabling the
// feature has added it to a file without the feature's other lines.
func (p *planner) comment(f features.Name) error {
	e, _, err := p.main(f)
	if err != nil {
		return err
	}
	if alone, err := p.alone(f, e); err != nil {
		return err
	} else if alone {
		if err := p.Edit(p.defaultConfig(), func(_ string, src []byte) ([]byte, error) {
			if (piece.Section{Of: e}).Explained(src) {
				return src, nil
			}
			out, _ := piece.Item{List: e.List, Name: e.Item}.Remove(src)
			return out, nil
		}); err != nil {
			return err
		}
	}
	return p.follow(f, false)
}

// alone reports whether a feature has no other lines in the file of one.
func (p *planner) alone(f features.Name, than features.Entry) (bool, error) {
	for _, e := range features.Of(f).Lines() {
		c, err := p.Find(p.kustomization(e))
		if err != nil {
			return false, err
		}
		if off, on := (piece.Section{Of: e}).Lines(c.After()); e != than && len(off)+len(on) > 0 {
			return false, nil
		}
	}
	return true, nil
}

// follow switches all lines that a feature has, and those of others that are about this one, too.
func (p *planner) follow(f features.Name, on bool) error {
	for _, row := range features.Table() {
		other := row.Name
		is, _, foreign, err := p.of(other)
		if err != nil {
			return err
		}
		for _, e := range row.Lines() {
			switch {
			case other == f && e.With == "":
				err = p.set(e, on)
			case other == f:
				err = p.setWith(e, e.With, on)
			case e.With == f && foreign && (is == listed || !on):
				err = p.set(e, on)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// setWith switches an entry that is about another feature as well: while that one waits in a comment, or has not its
// files, the entry does.
func (p *planner) setWith(e features.Entry, other features.Name, on bool) error {
	is, _, _, err := p.of(other)
	if err != nil || on && (is == commented || is == absent && len(features.Of(other).Files) > 0) {
		return err
	}
	return p.set(e, on)
}

// set takes an entry out of its comment, or puts it into one. An entry that is not there is not needed.
func (p *planner) set(e features.Entry, on bool) error {
	file := p.kustomization(e)
	if there, err := p.Exists(file); err != nil || !there {
		return err
	}
	if !on {
		return p.Edit(file, (piece.Section{Of: p.sectionItem(e)}).Off)
	}
	if strings.HasSuffix(e.Item, injectionPatch) {
		if err := p.fitInjection(); err != nil {
			return err
		}
	}
	return p.Edit(file, p.waitingSection(e).On)
}

// waitingSection is an entry's in comments.
func (p *planner) waitingSection(e features.Entry) piece.Section {
	return piece.Section{Of: waiting{p.sectionItem(e), p, p.kustomization(e)}}
}

// sectionItem is an entry's. Of the replacements for webhooks, those into objects that the project does not have wait.
func (p *planner) sectionItem(e features.Entry) piece.SectionItem {
	if e.List == "replacements" && e.With == features.WebhookServer {
		return into{e, p.certified()}
	}
	return e
}

// waiting is an item that a comment of a kustomization keeps for later: that of a file which is there.
type waiting struct {
	piece.SectionItem
	p             *planner
	kustomization string
}

// Is reports whether an item is the one, and could be listed.
func (w waiting) Is(item any) bool {
	file := features.PathOf(item)
	if !w.SectionItem.Is(item) || path.Ext(file) == "" { // a folder is looked for with its kustomization; see foreign
		return w.SectionItem.Is(item)
	}
	there, err := w.p.Exists(path.Join(path.Dir(w.kustomization), file))
	return there || err != nil // reading it reports the error
}

// into is a replacement into objects of some kinds. The one for definitions has its targets below a marker, so it has
// none at first.
type into struct {
	features.Entry
	kinds []string
}

// Is reports whether an item is the entry and has such a target.
func (i into) Is(item any) bool {
	if !i.Entry.Is(item) {
		return false
	}
	fields, _ := item.(map[string]any)
	targets, _ := fields["targets"].([]any)
	if len(targets) == 0 {
		return slices.Contains(i.kinds, "CustomResourceDefinition")
	}
	return slices.ContainsFunc(targets, func(target any) bool {
		t, _ := target.(map[string]any)
		selected, _ := t["select"].(map[string]any)
		kind, _ := selected["kind"].(string)
		return slices.Contains(i.kinds, kind)
	})
}

// certified are the kinds of objects that name the webhooks' certificate, and the certificate itself.
func (p *planner) certified() []string {
	var kinds []string
	for _, r := range p.project.Resources {
		if r.Webhooks == nil {
			continue
		}
		for kind, on := range map[string]bool{
			"Certificate":                    true,
			"ValidatingWebhookConfiguration": r.Webhooks.Validation,
			"MutatingWebhookConfiguration":   r.Webhooks.Defaulting,
			"CustomResourceDefinition":       r.Webhooks.Conversion,
		} {
			if on {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}

// refuseNeeded refuses to switch features off that others, which stay on, need.
func (p *planner) refuseNeeded(off []features.Name) error {
	all := slices.Clone(off)
	var first *report.Error
	for again := true; again; {
		again = false
		for _, f := range features.Names() {
			needed, place, err := p.neededBy(f, all)
			if err != nil {
				return err
			}
			if needed == "" {
				continue
			}
			if first == nil {
				first = &report.Error{
					What: fmt.Sprintf("the feature %s needs %s", f, needed), Where: place, Code: 2,
					Hint: "nothing was changed; the manager's pods would not start, or nothing could collect its metrics: disable both, or use another --certs",
				}
			}
			all, again = append(all, f), true
		}
	}
	if err := p.refuseServed(off, all); err != nil || first == nil {
		return err
	}
	first.Next = "slipway edit --disable "
	for _, f := range slices.Backward(all) {
		first.Next += string(f) + ","
	}
	first.Next = first.Next[:len(first.Next)-1]
	return first
}

// neededBy is one of the features to switch off that a feature needs which stays on, and the place of that one's line.
func (p *planner) neededBy(f features.Name, off []features.Name) (needed features.Name, place string, err error) {
	is, line, foreign, err := p.of(f)
	if err != nil || is != listed || slices.Contains(off, f) {
		return "", "", err
	}
	row := features.Of(f)
	needs := append(row.Needs, row.ComponentNeeds...)
	if foreign {
		if needs, err = p.mounted(row); err != nil {
			return "", "", err
		}
		needs = append(needs, row.Needs...)
	}
	for _, g := range off {
		on, err := p.on(g)
		if err != nil {
			return "", "", err
		}
		replaced, err := p.replaced(g, off)
		if err != nil {
			return "", "", err
		}
		if on && !replaced && slices.Contains(needs, g) {
			return g, fmt.Sprintf("%s:%d", p.defaultConfig(), line), nil
		}
	}
	return "", "", nil
}

// mounted are the features that make what listed entries of a feature mount.
func (p *planner) mounted(row features.Feature) (all []features.Name, err error) {
	for _, e := range row.Entries {
		if is, _, err := p.state(e); err != nil {
			return nil, err
		} else if is == listed && e.Mounts != "" {
			all = append(all, e.Mounts)
		}
	}
	return all, nil
}

// replaced reports whether the feature that one excludes is on and stays on, in its place.
func (p *planner) replaced(f features.Name, off []features.Name) (bool, error) {
	other := features.Of(f).Excludes
	if other == "" || slices.Contains(off, other) {
		return false, nil
	}
	return p.on(other)
}

// A Waiting is a section of the configuration that is in comments though the project's webhooks need it.
type Waiting struct {
	File    string // the kustomization
	Line    int
	What    string
	Feature features.Name // that enabling takes it out of its comment
}

// WaitingSections are those of the project in the plan's folder.
func WaitingSections(on *plan.Plan, file *project.Project) ([]Waiting, error) {
	p := &planner{Plan: on, project: file}
	if len(p.certified()) == 0 {
		return nil, nil
	}
	config, err := p.Find(p.defaultConfig())
	if err != nil || !config.There() {
		return nil, err
	}
	var all []Waiting
	for _, f := range []features.Name{features.WebhookServer, features.CertManager} {
		is, _, foreign, err := p.of(f)
		if err != nil {
			return nil, err
		}
		if !foreign || f == features.CertManager && is != listed {
			continue
		}
		for i, e := range features.Of(f).Entries {
			lines, _ := p.waitingSection(e).Lines(config.After())
			if e.With != "" && e.With != features.WebhookServer {
				continue
			}
			for _, line := range lines {
				what := "a section of its " + e.List
				if i == 0 {
					what = e.Item
				}
				all = append(all, Waiting{config.Path(), line, what, f})
			}
		}
	}
	slices.SortFunc(all, func(a, b Waiting) int { return a.Line - b.Line })
	return all, nil
}
