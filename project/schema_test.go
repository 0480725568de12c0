package project

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the schema of settings")

// schemaFile is the published schema of the settings in PROJECT.
const schemaFile = "../docs/reference/project.schema.json"

// meaning is the schema of a key of settings; nil if there is none.
func meaning(key string) *jsonschema.Schema {
	scalars := []string{"string", "number", "boolean"}
	switch key {
	case "scaffold":
		return &jsonschema.Schema{Type: "integer", Description: "What slipway has made the project with. slipway keeps it up to date."}
	case "managers":
		return &jsonschema.Schema{Type: "array", Description: "How slipway dev and slipway run start managers.", Items: mapping(managerKeys)}
	case "package":
		return &jsonschema.Schema{Type: "string", Description: "The folder of the manager's main package, such as cmd. Without it, the project's folder."}
	case "args":
		return &jsonschema.Schema{Type: "array", Description: "Arguments, in place of those of the Makefile and the Deployment.", Items: &jsonschema.Schema{Types: scalars}}
	case "env":
		return &jsonschema.Schema{Type: "object", Description: "Variables, over those of the Makefile and the Deployment. A project may not choose the cluster, programs or what slipway does.",
			PropertyNames: &jsonschema.Schema{Not: &jsonschema.Schema{Pattern: reservedPattern()}}, AdditionalProperties: &jsonschema.Schema{Types: scalars}}
	}
	return nil
}

// mapping is the schema of a mapping with these keys and no others.
func mapping(keys []string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, key := range keys {
		s.Properties[key] = meaning(key)
	}
	s.PropertyOrder = keys
	return s
}

// reservedPattern matches the names that isReserved refuses.
func reservedPattern() string {
	var names, beginnings []string
	for _, r := range reserved {
		names = append(names, regexp.QuoteMeta(r))
		if strings.HasSuffix(r, "_") {
			beginnings = append(beginnings, regexp.QuoteMeta(r))
		}
	}
	return `^$|[=\x00]|^(` + strings.Join(names, "|") + `)$|^(` + strings.Join(beginnings, "|") + `)`
}

// settingsSchema is the schema of a PROJECT file, as far as settings go.
func settingsSchema() *jsonschema.Schema {
	own := mapping(settingsKeys)
	own.Description = "The settings of slipway. A key that is not listed is an error."
	return &jsonschema.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema", Title: "Slipway's settings in a PROJECT file", Type: "object",
		Properties: map[string]*jsonschema.Schema{"plugins": {Type: "object", Properties: map[string]*jsonschema.Schema{PluginKey: own}}},
	}
}

// TestSettingsSchema: the published schema is that of today's settings; -update writes it.
func TestSettingsSchema(t *testing.T) {
	got, err := json.MarshalIndent(settingsSchema(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(filepath.FromSlash(schemaFile), got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.FromSlash(schemaFile))
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-published +settings; go test ./project -run TestSettingsSchema -update):\n%s", schemaFile, diff)
	}
}

// TestSchemaHasEachKey: the keys of the schema are those that settings are read into.
func TestSchemaHasEachKey(t *testing.T) {
	for _, of := range []struct {
		settings any
		keys     []string
	}{{Settings{}, settingsKeys}, {ManagerSettings{}, managerKeys}} {
		fields := reflect.TypeOf(of.settings)
		for i := range fields.NumField() {
			if key := fields.Field(i).Tag.Get("yaml"); key != "-" && !slices.Contains(of.keys, key) {
				t.Errorf("%s has the key %s, which is no setting", fields.Name(), key)
			}
		}
		for _, key := range of.keys {
			if meaning(key) == nil {
				t.Errorf("the schema does not have %s", key)
			}
		}
	}
}

// TestSchemaAgreesWithSettings: the published schema accepts the settings that are read, and refuses what is refused.
func TestSchemaAgreesWithSettings(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash(schemaFile))
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for document, fine := range map[string]bool{
		"{}":                                    true,
		"plugins: {other/v1: {x: 1}}":           true,
		"plugins: {slipway.dev/v1: {}}":         true,
		"plugins: {slipway.dev/v1: [managers]}": false,
		"plugins: {slipway.dev/v1: {scaffold: 1, managers: []}}":                                     true,
		"plugins: {slipway.dev/v1: {manager: []}}":                                                   false,
		"plugins: {slipway.dev/v1: {managers: [{package: cmd, args: [--x, 1], env: {A: b, C: 1}}]}}": true,
		"plugins: {slipway.dev/v1: {managers: [cmd]}}":                                               false,
		"plugins: {slipway.dev/v1: {managers: [{package: cmd, before: make}]}}":                      false,
		"plugins: {slipway.dev/v1: {managers: [{package: [cmd]}]}}":                                  false,
		"plugins: {slipway.dev/v1: {managers: [{args: --x}]}}":                                       false,
		"plugins: {slipway.dev/v1: {managers: [{env: {KUBECONFIG: x}}]}}":                            false,
		"plugins: {slipway.dev/v1: {managers: [{env: {KUBECONFIG_DIR: x}}]}}":                        true,
		"plugins: {slipway.dev/v1: {managers: [{env: {LD_PRELOAD: x}}]}}":                            false,
		"plugins: {slipway.dev/v1: {managers: [{env: {MY_LD_PRELOAD: x}}]}}":                         true,
		`plugins: {slipway.dev/v1: {managers: [{env: {"A=B": x}}]}}`:                                 false,
		`plugins: {slipway.dev/v1: {managers: [{env: {"": x}}]}}`:                                    false,
		`plugins: {slipway.dev/v1: {managers: [{env: {A: [x]}}]}}`:                                   false,
	} {
		var doc yaml.Node
		var value any
		if err := yaml.Unmarshal([]byte(document), &doc); err != nil {
			t.Fatal(err)
		}
		if err := doc.Decode(&value); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(value); (err == nil) != fine {
			t.Errorf("%s is fine by the schema: %t, want %t: %v", document, err == nil, fine, err)
		}
		if _, err := (&Project{doc: &doc}).Settings(); (err == nil) != fine {
			t.Errorf("%s is read: %t, want %t: %v", document, err == nil, fine, err)
		}
	}
}

// TestSchemaRefusesReservedNames: the pattern of the schema is isReserved.
func TestSchemaRefusesReservedNames(t *testing.T) {
	pattern := regexp.MustCompile(reservedPattern())
	names := []string{"", "A", "A=B", "A\x00", "PATHS", "MY_PATH", "TMP_DIR"}
	for _, r := range reserved {
		names = append(names, r, r+"X", "X"+r, strings.TrimSuffix(r, "_"), strings.ToLower(r))
	}
	for _, name := range names {
		if got, want := pattern.MatchString(name), isReserved(name); got != want {
			t.Errorf("the schema reserves %q: %t, want %t", name, got, want)
		}
	}
}
