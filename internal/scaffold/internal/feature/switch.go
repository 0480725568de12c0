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

// A state describes an item in a kustomization, and thereby the feature that it switches.
type state int

const (
	absent state = iota
	commented
	listed
)

// inKubebuilderForm reports whether the project has the feature in kubebuilder's form, as listed or commented lines:
// its folder is a resource and no component, or its files in config/default exist.
func (p *planner) inKubebuilderForm(f features.Name) (bool, error) {
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
	_, is, err := p.decidingLine(f)
	return is != absent && !p.Recording(), err
}

// decidingLine returns kubebuilder's line that decides whether the feature is on, and its state.
func (p *planner) decidingLine(f features.Name) (features.Entry, state, error) {
	lines := features.Of(f).Lines()
	for _, e := range lines {
		if is, _, err := p.state(e); err != nil || is != absent {
			return e, is, err
		}
	}
	return lines[0], absent, nil
}

func (p *planner) kustomization(e features.Entry) string {
	if e.Folder == "" {
		return p.defaultConfig()
	}
	return p.Code().KustomizationFor(p.Code().ConfigFolder(e.Folder))
}

// state returns the state of an entry and the number of its first line, or 0.
func (p *planner) state(e features.Entry) (state, int, error) {
	c, err := p.Find(p.kustomization(e))
	if err != nil {
		return absent, 0, err
	}
	if _, on := (piece.Section{Of: e}).Lines(c.After()); len(on) > 0 {
		return listed, on[0], nil
	}
	if off, _ := (piece.Section{Of: commentedItem{e, p, c.Path()}}).Lines(c.After()); len(off) > 0 {
		return commented, off[0], nil
	}
	return absent, 0, nil
}

// featureState returns the state of a feature, the number of the line that decides it, and whether the feature is in
// kubebuilder's form.
func (p *planner) featureState(f features.Name) (is state, line int, foreign bool, err error) {
	e := features.Of(f).Component()
	if foreign, err = p.inKubebuilderForm(f); foreign && err == nil {
		e, _, err = p.decidingLine(f)
	}
	if err != nil {
		return absent, 0, false, err
	}
	is, line, err = p.state(e)
	return is, line, foreign, err
}

func (p *planner) on(f features.Name) (bool, error) {
	is, _, _, err := p.featureState(f)
	return is == listed, err
}

// enableForeign uncomments the lines of a feature in kubebuilder's form and of those that it needs, and adds what the
// project's kinds require.
func (p *planner) enableForeign(f features.Name) error {
	for _, needed := range features.Of(f).Needs {
		if foreign, err := p.inKubebuilderForm(needed); err != nil {
			return err
		} else if foreign {
			if err := p.enableForeign(needed); err != nil {
				return err
			}
		}
	}
	e, _, err := p.decidingLine(f)
	if err != nil {
		return err
	}
	if e.Folder == "" {
		line := piece.Switch{Item: piece.Item{List: e.List, Name: e.Item}, Section: piece.Section{Of: e}}
		if err := p.Insert(p.defaultConfig(), plan.These(line)); err != nil {
			return err
		}
	}
	if err := p.switchAllLines(f, true); err != nil {
		return err
	}
	if lines := p.parts(f).lines; lines != nil {
		return lines()
	}
	return nil
}

// comment comments a feature's lines out. It removes the main line if the file never had it in a comment, since
// [planner.enableForeign] added it there.
func (p *planner) comment(f features.Name) error {
	e, _, err := p.decidingLine(f)
	if err != nil {
		return err
	}
	if alone, err := p.onlyLine(f, e); err != nil {
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
	return p.switchAllLines(f, false)
}

// onlyLine reports whether no other line of the feature exists.
func (p *planner) onlyLine(f features.Name, than features.Entry) (bool, error) {
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

// switchAllLines switches all lines of a feature, and the lines of other features that also depend on it.
func (p *planner) switchAllLines(f features.Name, on bool) error {
	for _, row := range features.Table() {
		other := row.Name
		is, _, foreign, err := p.featureState(other)
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

// setWith switches an entry that also depends on another feature. It does not uncomment the entry while that feature is
// commented or lacks its files.
func (p *planner) setWith(e features.Entry, other features.Name, on bool) error {
	is, _, _, err := p.featureState(other)
	if err != nil || on && (is == commented || is == absent && len(features.Of(other).Files) > 0) {
		return err
	}
	return p.set(e, on)
}

// set uncomments an entry or comments it out. It does nothing if the entry does not exist.
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

func (p *planner) waitingSection(e features.Entry) piece.Section {
	return piece.Section{Of: commentedItem{p.sectionItem(e), p, p.kustomization(e)}}
}

// sectionItem returns what matches the entry. A replacement for webhooks matches only if it writes into a kind of
// object that the project has.
func (p *planner) sectionItem(e features.Entry) piece.SectionItem {
	if e.List == "replacements" && e.With == features.WebhookServer {
		return replacementInto{e, p.certified()}
	}
	return e
}

// commentedItem matches a commented item that can be listed, because the file that it names exists.
type commentedItem struct {
	piece.SectionItem
	p             *planner
	kustomization string
}

// Is implements [piece.SectionItem].
func (w commentedItem) Is(item any) bool {
	file := features.PathOf(item)
	if !w.SectionItem.Is(item) || path.Ext(file) == "" { // a folder is looked for with its kustomization; see foreign
		return w.SectionItem.Is(item)
	}
	there, err := w.p.Exists(path.Join(path.Dir(w.kustomization), file))
	return there || err != nil // reading it reports the error
}

// replacementInto matches a replacement that writes into one of the kinds. The replacement for definitions has no
// targets at first; they are inserted at its marker.
type replacementInto struct {
	features.Entry
	kinds []string
}

// Is implements [piece.SectionItem].
func (i replacementInto) Is(item any) bool {
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

// certified returns the kinds of objects in this project that name the webhooks' certificate.
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

// refuseNeeded refuses to disable features that a feature which stays on needs.
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
					What: fmt.Sprintf("the feature %s needs %s", f, needed), Where: place, Code: report.UsageCode,
					Hint: "nothing was changed; disable it with all that needs it",
				}
				if features.Of(needed).IssuesCertificates() {
					first.Hint += ", or have another one issue the certificate with slipway edit --certs"
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

// neededBy returns a feature of off that f needs, if f stays on, and the place of f's line.
func (p *planner) neededBy(f features.Name, off []features.Name) (needed features.Name, place string, err error) {
	is, line, foreign, err := p.featureState(f)
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

// mounted returns the features whose Secrets the listed entries of a feature mount.
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

// replaced reports whether the feature that f excludes is on and stays on, in place of f.
func (p *planner) replaced(f features.Name, off []features.Name) (bool, error) {
	other := features.Of(f).Excludes
	if other == "" || slices.Contains(off, other) {
		return false, nil
	}
	return p.on(other)
}

// A Waiting is a commented section of a kustomization that the project's webhooks need.
type Waiting struct {
	File    string // the kustomization
	Line    int
	What    string
	Feature features.Name // enabling it uncomments the section
}

// WaitingSections lists the commented sections of config/default that the project's webhooks need, by line.
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
		is, _, foreign, err := p.featureState(f)
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
