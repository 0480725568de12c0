package proving

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/prove/expression"
	"github.com/slipway-dev/slipway/internal/yamlsize"
)

// parse reads a scenario. Its errors name the line.
func parse(text []byte) (f file, scenario prove.Scenario, err error) {
	if len(text) > maxScenario {
		return f, scenario, errors.New("it is larger than 1 MiB")
	}
	if err := yamlsize.Check(text); err != nil {
		return f, scenario, plain(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return f, scenario, plain(err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return f, scenario, errors.New("it has a second document")
	}
	p := parser{scenario: prove.Scenario{Patience: f.Patience}}
	if err := yaml.Unmarshal(text, &p.root); err != nil { // once more, for the lines
		return f, scenario, plain(err)
	}
	err = p.all(f)
	return f, p.scenario, err
}

// plain is an error of the parser without types of Go, which no user knows.
func plain(err error) error {
	wrong, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	texts := slices.Clone(wrong.Errors)
	for i, text := range texts {
		texts[i], _, _ = strings.Cut(text, " in type ")
		texts[i] = strings.Replace(texts[i], "into time.Duration", "into a duration such as 2s", 1)
	}
	return errors.New(strings.Join(texts, "; "))
}

// A parser makes a scenario of what a file says.
type parser struct {
	root     yaml.Node
	scenario prove.Scenario
}

// wrong is an error with the line of what is at a path of keys and indexes, or else of what is around it.
func (p *parser) wrong(err error, path ...any) error {
	return fmt.Errorf("line %d: %w", p.line(path...), err)
}

func (p *parser) line(path ...any) int {
	node, line := &p.root, 1
	for _, at := range append([]any{0}, path...) { // the first node is the document
		if node = child(node, at); node == nil {
			break
		}
		line = node.Line
	}
	return line
}

// child is the value of a key, or the element with an index; nil if there is none.
func child(node *yaml.Node, at any) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch at := at.(type) {
	case int:
		if node.Kind != yaml.MappingNode && at < len(node.Content) {
			return node.Content[at]
		}
	case string:
		for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == at {
				return node.Content[i+1]
			}
		}
	}
	return nil
}

func (p *parser) all(f file) error {
	if len(f.Steps) == 0 {
		return errors.New("it has no steps")
	}
	if len(f.Steps) > maxSteps {
		return p.wrong(fmt.Errorf("it has %d steps; %d are allowed", len(f.Steps), maxSteps), "steps")
	}
	if err := checkPatience(f.Patience); err != nil {
		return p.wrong(err, "patience")
	}
	for i, s := range f.Steps {
		if err := p.step(i, s); err != nil {
			return err
		}
	}
	if len(f.Invariants) > maxInvariants {
		return p.wrong(fmt.Errorf("it has %d invariants; %d are allowed", len(f.Invariants), maxInvariants), "invariants")
	}
	for i, v := range f.Invariants {
		if err := p.invariant(i, v); err != nil {
			return err
		}
	}
	if err := p.operators(f); err != nil {
		return err
	}
	if err := p.services(f); err != nil {
		return err
	}
	for _, i := range f.Ignore {
		p.scenario.Ignore = append(p.scenario.Ignore, prove.Ignore(i))
	}
	return nil
}

// checkPatience refuses what is no patience. A number without a unit is one of nanoseconds.
func checkPatience(d time.Duration) error {
	if d != 0 && (d < time.Millisecond || d > maxPatience) {
		return fmt.Errorf("patience is a duration such as 2s, from 1ms to %s", maxPatience)
	}
	return nil
}

var (
	errStep  = errors.New("a step has one of apply, patch, delete, scale and exec")
	errName  = errors.New("an object has apiVersion, kind and metadata.name")
	errScale = errors.New("scale has replicas, a number from 0 to 1000")
	errExec  = errors.New("exec is a list of words, the first of them a program")
)

func (p *parser) step(i int, s step) error {
	wrong := func(err error, key ...any) error { return p.wrong(err, append([]any{"steps", i}, key...)...) }
	made := prove.Step{Name: s.Name, Patience: s.Patience}
	given := 0
	for key, object := range map[string]*map[string]any{"apply": &s.Apply, "patch": &s.Patch, "delete": &s.Delete} {
		if *object == nil {
			continue
		}
		given++
		converted, err := asJSON(*object)
		if err != nil {
			return wrong(err, key)
		}
		*object = converted
	}
	if s.Scale != nil {
		given++
		var err error
		if made.Scale, err = s.Scale.scale(); err != nil {
			return wrong(err, "scale")
		}
	}
	if s.Exec != nil {
		given++
		if len(s.Exec) == 0 || s.Exec[0] == "" {
			return wrong(errExec, "exec")
		}
		made.Exec = s.Exec
	}
	if given != 1 {
		return wrong(errStep)
	}
	made.Apply, made.Patch, made.Delete = s.Apply, s.Patch, s.Delete
	if err := checkPatience(s.Patience); err != nil {
		return wrong(err, "patience")
	}
	var err error
	if made.Until, err = condition(&s.Until); err != nil {
		return wrong(fmt.Errorf("until: %w", err), "until")
	}
	p.scenario.Steps = append(p.scenario.Steps, made)
	return nil
}

var errInvariant = errors.New("an invariant has a name, which no other one has, and that, an expression")

func (p *parser) invariant(i int, v invariant) error {
	known := slices.ContainsFunc(p.scenario.Invariants, func(other prove.Invariant) bool { return other.Name == v.Name })
	if v.Name == "" || v.That == "" || known {
		return p.wrong(errInvariant, "invariants", i)
	}
	compiled, err := expression.Compile(v.That, prove.VariableObjects)
	if err != nil {
		return p.wrong(fmt.Errorf("that: %w", err), "invariants", i, "that")
	}
	p.scenario.Invariants = append(p.scenario.Invariants, prove.Invariant{Name: v.Name, Kind: v.Kind, Line: p.line("invariants", i, "that"), That: compiled})
	return nil
}

// Names of services and variables, and what stands for a port.
var (
	serviceName = lazy.Regexp(`^[a-z][a-z0-9-]*$`)
	envName     = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)
	portOf      = lazy.Regexp(`\{([a-z][a-z0-9-]*)\.port\}`)
)

var (
	errService = errors.New("a service has a name of a-z, 0-9 and -, which no other one has, and a command, a list of words")
	errEnv     = errors.New("env has names of variables and their values")
)

var (
	errOperator  = errors.New("an operator has a name of a-z, 0-9 and -, which no other one has, and a command, a list of words")
	errOperators = fmt.Errorf("operators are 2 to %d, in place of command and serviceAccount", maxOperators)
)

// operators checks the operators that are proved together.
func (p *parser) operators(f file) error {
	if f.Operators == nil {
		return nil
	}
	if len(f.Operators) < 2 || len(f.Operators) > maxOperators || f.Command != nil || f.ServiceAccount != "" {
		return p.wrong(errOperators, "operators")
	}
	known := map[string]bool{}
	for i, o := range f.Operators {
		if !serviceName().MatchString(o.Name) || known[o.Name] || len(o.Command) == 0 || o.Command[0] == "" {
			return p.wrong(errOperator, "operators", i)
		}
		known[o.Name] = true
	}
	return nil
}

// services checks the services, and the ports of them that are named elsewhere.
func (p *parser) services(f file) error {
	if len(f.Services) > maxServices {
		return p.wrong(fmt.Errorf("it has %d services; %d are allowed", len(f.Services), maxServices), "services")
	}
	known := map[string]bool{}
	for i, s := range f.Services {
		if !serviceName().MatchString(s.Name) || known[s.Name] || len(s.Command) == 0 || s.Command[0] == "" {
			return p.wrong(errService, "services", i)
		}
		known[s.Name] = true
		f.Services[i].line = p.line("services", i)
	}
	ports := func(text string, path ...any) error {
		for _, m := range portOf().FindAllStringSubmatch(text, -1) {
			if !known[m[1]] {
				return p.wrong(fmt.Errorf("%s: there is no service %s", m[0], m[1]), path...)
			}
		}
		return nil
	}
	variables := func(env map[string]string, path ...any) error {
		for name, value := range env {
			at := append(slices.Clone(path), "env", name)
			if !envName().MatchString(name) || strings.ContainsRune(value, 0) {
				return p.wrong(errEnv, at...)
			}
			if err := ports(value, at...); err != nil {
				return err
			}
		}
		return nil
	}
	if err := variables(f.Env); err != nil {
		return err
	}
	for i, o := range f.Operators {
		if err := errors.Join(ports(strings.Join(o.Command, " "), "operators", i, "command"), variables(o.Env, "operators", i)); err != nil {
			return err
		}
	}
	for i, s := range f.Services {
		if err := errors.Join(ports(strings.Join(s.Command, " "), "services", i, "command"), ports(strings.Join(s.Reset, " "), "services", i, "reset")); err != nil {
			return err
		}
	}
	return ports(strings.Join(f.Command, " "), "command")
}

// asJSON is an object as the API has it. It has to have a name.
func asJSON(object map[string]any) (converted map[string]any, err error) {
	encoded, err := json.Marshal(object)
	if err == nil {
		err = utiljson.Unmarshal(encoded, &converted)
	}
	if err != nil {
		return nil, err
	}
	o := unstructured.Unstructured{Object: converted}
	if o.GetAPIVersion() == "" || o.GetKind() == "" || o.GetName() == "" {
		return nil, errName
	}
	return converted, nil
}

// scale is what is to be scaled, and how far.
func (s scale) scale() (*prove.Scale, error) {
	if s.Replicas == nil || *s.Replicas < 0 || *s.Replicas > 1000 {
		return nil, errScale
	}
	object, err := asJSON(map[string]any{"apiVersion": s.APIVersion, "kind": s.Kind, "metadata": map[string]any{"namespace": s.Metadata.Namespace, "name": s.Metadata.Name}})
	return &prove.Scale{Object: object, Replicas: *s.Replicas}, err
}
