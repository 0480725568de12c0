package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/report"
)

// asked is a session for what is read in this process. Its reports go nowhere: standard output has the protocol.
func (w *workshop) asked() *operation.Session {
	s := operation.Apart(w.session)
	s.Handler = report.Discard
	return s
}

// A kindEntry is a kind of the project.
type kindEntry struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Where   string `json:"where"`
}

// A placed is a controller or webhook of the project, with its place.
type placed struct {
	Name  string   `json:"name"`
	Where string   `json:"where"`
	Kinds []string `json:"kinds,omitempty"`
}

// showProject is the tool project.
func showProject(_ context.Context, t *turn, _ struct{}) (answer, error) {
	s := t.asked()
	root, err := s.ReadRoot()
	if err != nil {
		return answer{}, err
	}
	code := s.Codebase(root)
	var facts []any
	if file, err := code.Described(); err != nil {
		return answer{}, err
	} else if file != nil {
		facts = append(facts, map[string]any{"name": file.Name, "domain": file.Domain, "module": file.Repo, "layout": file.Layout, "multigroup": file.MultiGroup})
	}
	kinds, err := code.Kinds()
	if err != nil {
		return answer{}, err
	}
	for _, k := range kinds {
		facts = append(facts, kindEntry{Group: k.Package.Group, Version: k.Package.Version, Kind: k.Name, Where: k.Where()})
	}
	controllers, err := code.Controllers()
	if err != nil {
		return answer{}, err
	}
	for _, c := range controllers {
		p := placed{Name: c.Type, Where: fmt.Sprintf("%s:%d", c.File, c.Line)}
		for _, k := range c.For {
			p.Kinds = append(p.Kinds, k.Kind)
		}
		facts = append(facts, p)
	}
	webhooks, err := code.Webhooks()
	if err != nil {
		return answer{}, err
	}
	for _, h := range webhooks {
		facts = append(facts, placed{Name: h.Path, Where: h.Where(), Kinds: h.Definitions})
	}
	return t.local("These are the project, its kinds, controllers and webhooks.", facts)
}

// markersArguments are those of the tool markers.
type markersArguments struct {
	Search string `json:"search,omitempty" jsonschema:"only markers that have this text in their name or meaning, such as minimum"`
}

// showMarkers is the tool markers.
func showMarkers(_ context.Context, t *turn, in markersArguments) (answer, error) {
	if err := checked(isText("search", in.Search)); err != nil {
		return answer{}, err
	}
	version, search := generation.ControllerGenOf(t.asked()), strings.ToLower(in.Search)
	var found []any
	for _, group := range generate.MarkerHelp(version, generatorNames()...) {
		for _, m := range group.Markers {
			if strings.Contains(strings.ToLower(m.Name+"\n"+m.Summary), search) {
				found = append(found, m)
			}
		}
	}
	return t.local(fmt.Sprintf("%d markers of controller-gen %s. A summary continues the phrase: this marker …", len(found), version), found)
}

// local is an answer with values of this process, one in a line.
func (t *turn) local(words string, values []any) (answer, error) {
	lines := make([]string, 0, len(values))
	for _, v := range values {
		line, err := json.Marshal(map[string]any{"event": "result", "value": v})
		if err != nil {
			return answer{}, err
		}
		lines = append(lines, string(line))
	}
	return answer{words: words, data: cleaner{t.secrets.hide}.lines(lines)}, nil
}

func generatorNames() (names []string) {
	for _, g := range generate.Generators() {
		names = append(names, g.Name)
	}
	return names
}
