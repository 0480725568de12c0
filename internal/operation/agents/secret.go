package agents

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// hidden stands in place of a value of a Secret.
const hidden = "[value of a Secret]"

// Shorter values are words such as true, and hiding them would spoil every answer. A line of a longer value is looked
// for by itself too, since logs have one line each.
const (
	minSecret = 6
	minLine   = 16
	maxValues = 100_000
)

// secrets are the values that an answer must not have. A value stays one after its Secret is gone: a log may have it.
type secrets struct {
	mu       sync.Mutex
	values   map[string]bool
	replacer *strings.Replacer // made of values; nil if there are others now
}

// hide replaces all values in a text.
func (s *secrets) hide(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replacer == nil {
		longest := slices.SortedFunc(func(yield func(string) bool) {
			for value := range s.values {
				if !yield(value) {
					return
				}
			}
		}, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
		var pairs []string
		for _, value := range longest {
			pairs = append(pairs, value, hidden)
		}
		s.replacer = strings.NewReplacer(pairs...)
	}
	return s.replacer.Replace(text)
}

// add adds a value in the forms in which programs print it.
func (s *secrets) add(value string) {
	forms := []string{value, strings.TrimSpace(value), base64.StdEncoding.EncodeToString([]byte(value)), inJSON(value)}
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= minLine {
			forms = append(forms, line)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, form := range forms {
		if len(form) < minSecret || s.values[form] || len(s.values) >= maxValues {
			continue
		}
		if s.values == nil {
			s.values = map[string]bool{}
		}
		s.values[form], s.replacer = true, nil
	}
}

// inJSON is a text as a log in JSON has it.
func inJSON(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return string(bytes.Trim(quoted, `"`))
}

// addFrom adds the values of all Secrets in a JSON value.
func (s *secrets) addFrom(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			s.addFrom(item)
		}
	case map[string]any:
		if isSecret(value) {
			s.addSecret(value)
			return
		}
		for _, item := range value {
			s.addFrom(item)
		}
	}
}

// addSecret adds the values of one Secret. Those of a ServiceAccount have a namespace and a public certificate.
func (s *secrets) addSecret(object map[string]any) {
	public := []string{}
	if object["type"] == "kubernetes.io/service-account-token" {
		public = []string{"namespace", "ca.crt"}
	}
	encoded, _ := object["data"].(map[string]any)
	for key, value := range encoded {
		text, _ := value.(string)
		decoded, err := base64.StdEncoding.DecodeString(text)
		if err == nil && !slices.Contains(public, key) {
			s.add(string(decoded))
		}
	}
	plain, _ := object["stringData"].(map[string]any)
	for _, value := range plain {
		text, _ := value.(string)
		s.add(text)
	}
}

// addManifest adds the values of Secrets in YAML or JSON that is about to be applied: the API server's refusal may
// quote them. A mistake in the manifest is kubectl's to report.
func (s *secrets) addManifest(manifest string) {
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	for {
		var object map[string]any
		if err := decoder.Decode(&object); err != nil {
			return
		}
		s.addFrom(object)
	}
}

// isSecret reports whether a JSON object is a Secret.
func isSecret(object map[string]any) bool {
	version, given := object["apiVersion"].(string)
	return object["kind"] == "Secret" && (!given || version == "v1")
}

// withoutValues has the keys of a Secret and the sizes of their values.
func withoutValues(data any) any {
	values, is := data.(map[string]any)
	if !is {
		return hidden
	}
	shown := make(map[string]any, len(values))
	for key, value := range values {
		text, _ := value.(string)
		shown[key] = fmt.Sprintf("%s, %d characters", hidden, len(text))
	}
	return shown
}

// learnSecrets reads the values of all Secrets of a cluster, for they may be in its logs and in other objects. It
// reports whether it could.
func (t *turn) learnSecrets(ctx context.Context, kubeconfig string) bool {
	quiet := &turn{workshop: t.workshop}
	o, err := quiet.slipway(ctx, call{args: []string{"kubectl", "get", "secrets", "--all-namespaces", "--output=json"}, kubeconfig: kubeconfig, plain: true})
	if err != nil || o.code != 0 {
		return false
	}
	decoder := json.NewDecoder(strings.NewReader(strings.Join(o.lines, "\n")))
	for {
		var list any
		switch err := decoder.Decode(&list); err {
		case nil:
			t.secrets.addFrom(list)
		case io.EOF:
			return true
		default:
			return false
		}
	}
}
