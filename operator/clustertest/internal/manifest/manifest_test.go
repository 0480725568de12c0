package manifest

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

// crd is a definition's text.
func crd(name string) string {
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + name + "}\n"
}

// folder writes files, by path and text, into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRead(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.yaml":             "# nothing but a comment\n---\n" + crd("a") + "---\n\n---\n" + crd("b") + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
		"c.yml":              crd("c"),
		"d.json":             `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "d"}}`,
		"kustomization.yaml": "resources: [a.yaml]\n",
		"README.md":          "not: [yaml",
		"patches/e.yaml":     crd("a"), // part of one, for kustomize
	})
	found, err := Read(CRDs, dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range found {
		names = append(names, o.GetName())
	}
	if want := []string{"a", "b", "c", "d"}; !slices.Equal(names, want) {
		t.Errorf("found %v, want %v", names, want)
	}
	if found, err = Read(CRDs, filepath.Join(dir, "patches/e.yaml")); err != nil || len(found) != 1 {
		t.Errorf("a file of its own gave %v, %v", found, err)
	}
}

func TestReadRefuses(t *testing.T) {
	dir := folder(t, map[string]string{
		"empty/README.md":       "",
		"broken/a.yaml":         crd("a") + "---\na: [b\n",
		"nameless/a.yaml":       "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n",
		"old/a.yaml":            strings.Replace(crd("a"), "/v1", "/v1beta1", 1),
		"twice/a.yaml":          crd("a"),
		"twice/b.yaml":          crd("a"),
		"nokind/manifests.yaml": "kind: ConfigMap\n",
	})
	for _, test := range []struct{ path, where, says string }{
		{"missing", "missing", "no such file"},
		{"empty", "empty", "no CustomResourceDefinition"},
		{"nokind", "nokind", "no CustomResourceDefinition"},
		{"broken", "broken/a.yaml", "document 2"},
		{"nameless", "nameless/a.yaml", "no name"},
		{"old", "old/a.yaml", "use apiextensions.k8s.io/v1"},
		{"twice", "twice/b.yaml", "twice/a.yaml"},
	} {
		t.Run(test.path, func(t *testing.T) {
			_, err := Read(CRDs, filepath.Join(dir, test.path))
			e, ok := errors.AsType[*fault.Error](err)
			if !ok || e.Where != filepath.Join(dir, test.where) || !strings.Contains(e.Error(), test.says) {
				t.Errorf("Read returned %v, want %q at %s", err, test.says, test.where)
			}
		})
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

var server = Server{URL: "https://127.0.0.1:20123", CA: []byte("the CA")}

func TestRedirect(t *testing.T) {
	config := object(t, `
kind: ValidatingWebhookConfiguration
webhooks:
- clientConfig: {service: {name: s, namespace: n, path: /validate}}
- clientConfig: {service: {name: s, namespace: n}}
- clientConfig: {url: "https://example.com/theirs"}
`)
	if err := Redirect(config, server); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"https://127.0.0.1:20123/validate", "https://127.0.0.1:20123/", "https://example.com/theirs"} {
		hook := config.Object["webhooks"].([]any)[i].(map[string]any)["clientConfig"].(map[string]any)
		if hook["url"] != want || hook["service"] != nil {
			t.Errorf("webhook %d calls %v, want %s", i, hook, want)
		}
		if ours := strings.HasPrefix(want, server.URL); ours != (hook["caBundle"] == base64.StdEncoding.EncodeToString(server.CA)) {
			t.Errorf("webhook %d trusts %v", i, hook["caBundle"])
		}
	}
}

func TestRedirectMalformed(t *testing.T) {
	for _, text := range []string{"webhooks: 3", "webhooks: [3]", "webhooks: [{clientConfig: 3}]"} {
		if err := Redirect(object(t, text), server); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

func TestRedirectConversion(t *testing.T) {
	for _, test := range []struct{ spec, url string }{
		{"{}", "https://127.0.0.1:20123/convert"},
		{"{conversion: {strategy: None}}", "https://127.0.0.1:20123/convert"},
		{"{conversion: {strategy: Webhook, webhook: {clientConfig: {service: {path: /other}}, conversionReviewVersions: [v1beta1]}}}", "https://127.0.0.1:20123/other"},
	} {
		o := object(t, "spec: "+test.spec)
		if err := RedirectConversion(o, server); err != nil {
			t.Fatal(err)
		}
		url, _, _ := unstructured.NestedString(o.Object, "spec", "conversion", "webhook", "clientConfig", "url")
		versions, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "conversion", "webhook", "conversionReviewVersions")
		if url != test.url || len(versions) != 1 {
			t.Errorf("%s calls %s with %v, want %s", test.spec, url, versions, test.url)
		}
	}
}

// hub, otherHub, spoke and plain are Go types of versions.
type hub struct{ metav1.PartialObjectMetadata }

func (*hub) Hub() {}

type otherHub struct{ hub }

type spoke struct{ metav1.PartialObjectMetadata }

func (*spoke) ConvertTo(conversion.Hub) error   { return nil }
func (*spoke) ConvertFrom(conversion.Hub) error { return nil }

type plain struct{ metav1.PartialObjectMetadata }

func TestConverts(t *testing.T) {
	const text = "spec: {group: g, names: {kind: K, plural: ks}, versions: [{name: v1, served: true}, {name: v2, served: true}, {name: v3, served: false}]}"
	for _, test := range []struct {
		name   string
		v1, v2 runtime.Object
		crd    string
		want   bool
		fails  bool
	}{
		{name: "asks for it", crd: "spec: {conversion: {strategy: Webhook}}", want: true},
		{name: "unknown types", crd: text},
		{name: "plain types", crd: text, v1: &plain{}, v2: &plain{}},
		{name: "one type", crd: text, v1: &hub{}},
		{name: "hub and spoke", crd: text, v1: &hub{}, v2: &spoke{}, want: true},
		{name: "hub and plain", crd: text, v1: &hub{}, v2: &plain{}, fails: true},
		{name: "two hubs", crd: text, v1: &hub{}, v2: &otherHub{}, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := runtime.NewScheme()
			for version, o := range map[string]runtime.Object{"v1": test.v1, "v2": test.v2} {
				if o != nil {
					s.AddKnownTypeWithName(schema.GroupVersionKind{Group: "g", Version: version, Kind: "K"}, o)
				}
			}
			got, err := Converts(object(t, test.crd), s)
			if got != test.want || (err != nil) != test.fails {
				t.Errorf("Converts = %t, %v; want %t, an error %t", got, err, test.want, test.fails)
			}
		})
	}
}

func TestResources(t *testing.T) {
	got, err := Resources(object(t, "spec: {group: g, names: {plural: ks}, versions: [{name: v1, served: true}, {name: v2, served: false}]}"))
	if want := (schema.GroupVersionResource{Group: "g", Version: "v1", Resource: "ks"}); err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("Resources = %v, %v; want %v", got, err, want)
	}
	if _, err := Resources(object(t, "spec: {group: 3}")); err == nil {
		t.Error("a group of 3 was accepted")
	}
}
