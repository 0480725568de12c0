package agents

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

// A tool is what an agent can call.
type tool struct {
	name, does string
	changes    string // a sentence: what is different afterwards
	effect     effect
	add        func(s *mcp.Server, w *workshop, t tool)
}

// An effect is what a tool may change, in the protocol's terms.
type effect struct{ reads, destroys, repeatable bool }

// The effects of tools.
var (
	readOnly   = effect{reads: true, repeatable: true}
	additive   = effect{repeatable: true}
	destroying = effect{destroys: true, repeatable: true} // it replaces or deletes what is there
	executing  = effect{destroys: true}                   // it runs the project's code, which may do anything
)

// tools lists all tools, in the order of a task.
func tools() []tool {
	return []tool{
		{"project", "Lists the project's kinds, controllers and webhooks, each with its file and line.", "It changes nothing.", readOnly, with(showProject)},
		{"markers", "Lists the markers that may stand in Go comments, with their arguments and meaning.", "It changes nothing.", readOnly, with(showMarkers)},
		{"generate", "Generates DeepCopy methods, CRDs, roles and webhook configurations from types and markers. Returns findings with rule, file, line and, where there is one, a fix.",
			"It replaces generated files of the project; with fix it also corrects code, and with check it writes no file.", destroying, running(generateCall)},
		{"test", "Runs go test with a control plane. Returns each test as an event, failed ones with their output.",
			"It runs the project's own code on this machine and first replaces generated files.", executing, running(testCall)},
		{"cluster_start", "Starts a cluster of slipway's on this machine in about a second.", "It starts a process that stays until cluster_stop; it selects no context.", additive, running(clusterCall("start", "--no-context"))},
		{"cluster_status", "Shows whether a cluster runs, and its components.", "It changes nothing.", readOnly, running(clusterCall("status"))},
		{"cluster_reset", "Restores a cluster to the state in which it became ready.", "It deletes all objects created since then, CRDs included.", destroying, running(clusterCall("reset"))},
		{"cluster_stop", "Stops a cluster of slipway's.", "It deletes the objects of a cluster that is not durable.", destroying, running(clusterCall("stop"))},
		{"install", "Applies the project's CRDs to a cluster.", "It changes CRDs of the cluster, and first replaces generated files.", destroying, reaching(installCall)},
		{"apply", "Applies objects to a cluster, from a manifest or a file of the project, by server-side apply.", "It creates and changes these objects.", destroying, reaching(applyCall)},
		{"get", "Returns objects of a cluster, one in a line, without values of Secrets.", "It changes nothing.", readOnly, reaching(getCall)},
		{"explain", "Says why an object is not ready: the most specific cause, and what the object owns.", "It changes nothing.", readOnly, reaching(explainCall)},
		{"status", "Shows what the operator in a cluster is like: workloads, leader, webhooks, certificates, CRDs, and objects that are not ready.", "It changes nothing.", readOnly, reaching(statusCall)},
		{"run", "Builds the project's manager and runs it against a cluster until stop. Returns the log of its first seconds.",
			"It runs the project's own code on this machine, and first replaces generated files.", executing, with(run)},
		{"stop", "Stops the manager of run and returns the end of its log.", "It ends the manager's process.", destroying, with(stop)},
		{"logs", "Returns the log of the manager of run, of a pod, or of a cluster's component, such as apiserver or controllers.", "It changes nothing.", readOnly, with(logs)},
		{"prove", "Runs the operator with one failure at a time in clusters of its own and returns what it does wrong. Takes minutes: set budgetSeconds. It reports progress and can be cancelled.",
			"It runs the project's own code on this machine, and first replaces generated files.", executing, running(proveCall)},
		{"more", "Returns the next part of an answer that was too long.", "It changes nothing.", readOnly, addMore},
	}
}

// describe is a tool in the protocol's form.
func (t tool) describe() *mcp.Tool {
	return &mcp.Tool{
		Name: t.name, Description: t.does + " " + t.changes,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.effect.reads, DestructiveHint: &t.effect.destroys, IdempotentHint: t.effect.repeatable, OpenWorldHint: new(false)},
	}
}

// with is a tool that a function carries out.
func with[In any](do func(ctx context.Context, t *turn, in In) (answer, error)) func(*mcp.Server, *workshop, tool) {
	return func(s *mcp.Server, w *workshop, t tool) {
		mcp.AddTool(s, t.describe(), func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			ctx, end := w.begin(ctx)
			defer end()
			a, err := do(ctx, &turn{w, w.progressOf(ctx, req)}, in)
			if refused, is := errors.AsType[refusal](err); is {
				a, err = refused.answer, nil
			}
			if err != nil {
				return nil, nil, w.failure(err)
			}
			return w.result(a), nil, nil
		})
	}
}

// running is a tool that is a call of slipway, which reaches no cluster through a kubeconfig.
func running[In any](make func(w *workshop, in In) (call, error)) func(*mcp.Server, *workshop, tool) {
	return with(func(ctx context.Context, t *turn, in In) (answer, error) {
		c, err := make(t.workshop, in)
		if err != nil {
			return answer{}, err
		}
		return t.do(ctx, c)
	})
}

// located are arguments that name a cluster.
type located interface{ at() clusterArgument }

func (c clusterArgument) at() clusterArgument { return c }

// reaching is [running] for a call that reaches a cluster.
func reaching[In located](make func(w *workshop, in In) (call, error)) func(*mcp.Server, *workshop, tool) {
	return with(func(ctx context.Context, t *turn, in In) (answer, error) {
		c, err := make(t.workshop, in)
		if err != nil {
			return answer{}, err
		}
		if c.kubeconfig, err = t.reach(ctx, in.at()); err != nil {
			return answer{}, err
		}
		return t.do(ctx, c)
	})
}

// addMore adds the tool more.
func addMore(s *mcp.Server, w *workshop, t tool) {
	mcp.AddTool(s, t.describe(), func(_ context.Context, _ *mcp.CallToolRequest, in moreArguments) (*mcp.CallToolResult, any, error) {
		r, err := w.next(in.Cursor)
		return r, nil, err
	})
}

// failure is an error as an agent reads it.
func (w *workshop) failure(err error) error {
	text := err.Error()
	if e, is := errors.AsType[*report.Error](err); is && e.Hint != "" && !strings.Contains(text, e.Hint) {
		text += ": " + e.Hint
	}
	text = w.secrets.hide(ansi.Plain(text))
	return errors.New(text[:cut(text, maxText)])
}

type generateArguments struct {
	Fix    bool `json:"fix,omitempty" jsonschema:"first correct code where a finding has a replacement"`
	Check  bool `json:"check,omitempty" jsonschema:"write nothing; fail with a diff if a generated file is out of date"`
	Strict bool `json:"strict,omitempty" jsonschema:"fail for findings that are not fatal, too"`
}

func generateCall(_ *workshop, in generateArguments) (call, error) {
	args := slices.Concat([]string{"generate"}, given("--fix", in.Fix), given("--check", in.Check), given("--strict", in.Strict))
	return call{args: args, writes: !in.Check, found: 1}, nil
}

type testArguments struct {
	Packages    []string `json:"packages,omitempty" jsonschema:"folders of packages, such as ./internal/controller or ./...; default: all"`
	Run         string   `json:"run,omitempty" jsonschema:"a regular expression: only tests with such a name"`
	Controllers bool     `json:"controllers,omitempty" jsonschema:"run Kubernetes' controllers with each control plane, such as garbage collection and Jobs"`
}

func testCall(_ *workshop, in testArguments) (call, error) {
	if err := checked(isText("run", in.Run)); err != nil {
		return call{}, err
	}
	if err := between("packages", len(in.Packages), 100); err != nil {
		return call{}, err
	}
	for _, p := range in.Packages {
		inside := func(s string) bool {
			return testFolder().MatchString(s) && !slices.Contains(strings.Split(s, "/"), "..")
		}
		if err := checked(form{"packages", p, inside, "folders below the project's, such as ./..."}); err != nil {
			return call{}, err
		}
	}
	args := slices.Concat([]string{"test"}, given("--controllers", in.Controllers), valued("-run", in.Run), in.Packages)
	if len(in.Packages) == 0 {
		args = append(args, "./...")
	}
	return call{args: args, writes: true, found: 1}, nil
}

// clusterCall is a command about one of slipway's own clusters.
func clusterCall(verb string, flags ...string) func(*workshop, clusterArgument) (call, error) {
	return func(_ *workshop, in clusterArgument) (call, error) {
		flag, err := in.flag()
		c := call{args: append([]string{"cluster", verb, flag}, flags...), clusters: true}
		if verb == "status" {
			c.found = 1 // it does not run
		}
		return c, err
	}
}

type installArguments struct{ clusterArgument }

func installCall(*workshop, installArguments) (call, error) {
	return call{args: []string{"install"}, writes: true}, nil
}

type applyArguments struct {
	clusterArgument
	File      string `json:"file,omitempty" jsonschema:"a file of the project, such as config/samples/web_v1_site.yaml"`
	Manifest  string `json:"manifest,omitempty" jsonschema:"YAML in place of a file"`
	Namespace string `json:"namespace,omitempty" jsonschema:"the namespace of objects that name none"`
}

// fieldManager owns the fields that apply sets.
const fieldManager = "slipway-mcp"

func applyCall(w *workshop, in applyArguments) (call, error) {
	if err := checked(isName("namespace", in.Namespace)); err != nil {
		return call{}, err
	}
	manifest := in.Manifest
	switch {
	case (in.File == "") == (manifest == ""):
		return call{}, &report.Error{What: "apply takes a file or a manifest"}
	case len(manifest) > maxManifest:
		return call{}, errManifest
	case in.File != "":
		var err error
		if manifest, err = w.read(in.File); err != nil {
			return call{}, err
		}
	}
	w.secrets.addManifest(manifest)
	args := slices.Concat([]string{"kubectl", "apply", "--server-side", "--field-manager=" + fieldManager, "--filename=-", "--output=name"}, valued("--namespace", in.Namespace))
	return call{args: args, stdin: manifest}, nil
}

type getArguments struct {
	clusterArgument
	Kind          string `json:"kind" jsonschema:"a kind or resource, such as pods or deployments.apps"`
	Name          string `json:"name,omitempty" jsonschema:"the name of one object; default: all"`
	Namespace     string `json:"namespace,omitempty" jsonschema:"default: default"`
	AllNamespaces bool   `json:"allNamespaces,omitempty" jsonschema:"of all namespaces"`
	Selector      string `json:"selector,omitempty" jsonschema:"a label selector, such as app=web"`
}

func getCall(_ *workshop, in getArguments) (call, error) {
	err := errors.Join(required("kind", in.Kind), checked(isKind("kind", in.Kind), isName("name", in.Name), isName("namespace", in.Namespace), isText("selector", in.Selector)))
	args := []string{"kubectl", "get", in.Kind}
	if in.Name != "" {
		args = append(args, in.Name)
	}
	args = slices.Concat(args, []string{"--output=json"}, valued("--namespace", in.Namespace), given("--all-namespaces", in.AllNamespaces), valued("--selector", in.Selector))
	return call{args: args}, err
}

type explainArguments struct {
	clusterArgument
	Kind      string `json:"kind" jsonschema:"a kind or resource, such as deployment or sites.web.example.com"`
	Name      string `json:"name" jsonschema:"the name of the object"`
	Namespace string `json:"namespace,omitempty" jsonschema:"default: default"`
}

func explainCall(_ *workshop, in explainArguments) (call, error) {
	err := errors.Join(required("kind", in.Kind), required("name", in.Name), checked(isKind("kind", in.Kind), isName("name", in.Name), isName("namespace", in.Namespace)))
	return call{args: slices.Concat([]string{"explain", in.Kind, in.Name}, valued("--namespace", in.Namespace))}, err
}

type statusArguments struct {
	clusterArgument
	Namespace string `json:"namespace,omitempty" jsonschema:"the namespace of the operator; default: the only one with a deployment"`
}

func statusCall(_ *workshop, in statusArguments) (call, error) {
	notReady := &report.Error{Class: report.NotReady}
	return call{args: append([]string{"status"}, valued("--namespace", in.Namespace)...), found: notReady.ExitCode()}, checked(isName("namespace", in.Namespace))
}

type logsArguments struct {
	clusterArgument
	Source    string `json:"source" jsonschema:"manager, pod, or a component: etcd, apiserver, controllers, scheduler, nodes"`
	Pod       string `json:"pod,omitempty" jsonschema:"the name of the pod"`
	Namespace string `json:"namespace,omitempty" jsonschema:"the namespace of the pod"`
	Container string `json:"container,omitempty" jsonschema:"a container of the pod"`
	Tail      int    `json:"tail,omitempty" jsonschema:"the number of recent lines; default 100, at most 5000"`
}

// logs is the tool.
func logs(ctx context.Context, t *turn, in logsArguments) (answer, error) {
	if err := errors.Join(required("source", in.Source), between("tail", in.Tail, maxLogLines), checked(isName("pod", in.Pod), isName("namespace", in.Namespace), isName("container", in.Container))); err != nil {
		return answer{}, err
	}
	if in.Tail == 0 {
		in.Tail = 100
	}
	switch {
	case in.Source == "manager":
		return t.manager.show(ctx, t, in.Tail)
	case in.Source == "pod":
		return podLogs(ctx, t, in)
	case !slices.Contains(clusters.LogComponents(), in.Source):
		return answer{}, &report.Error{What: "there is no such source of logs", Hint: "expected manager, pod, or one of " + strings.Join(clusters.LogComponents(), ", ")}
	}
	flag, err := in.flag()
	if err != nil {
		return answer{}, err
	}
	known := false
	if kubeconfig, err := t.reach(ctx, in.clusterArgument); err == nil { // a cluster that has stopped has logs, too
		known = t.learnSecrets(ctx, kubeconfig)
	}
	a, err := t.do(ctx, call{args: slices.Concat([]string{"cluster", "logs", in.Source, flag}, count("--tail", in.Tail)), clusters: true})
	if !known {
		a.words += unknownSecrets
	}
	return a, err
}

func podLogs(ctx context.Context, t *turn, in logsArguments) (answer, error) {
	if err := required("pod", in.Pod); err != nil {
		return answer{}, err
	}
	kubeconfig, err := t.reach(ctx, in.clusterArgument)
	if err != nil {
		return answer{}, err
	}
	args := slices.Concat([]string{"kubectl", "logs", in.Pod}, valued("--namespace", in.Namespace), valued("--container", in.Container), count("--tail", in.Tail))
	return t.do(ctx, call{args: args, kubeconfig: kubeconfig})
}

type proveArguments struct {
	Scenario string `json:"scenario,omitempty" jsonschema:"a file of the project with a scenario; default: the samples are applied, changed and deleted"`
	Budget   int    `json:"budgetSeconds,omitempty" jsonschema:"begin no plan after this time; default 120, at most 3600"`
	Plans    int    `json:"plans,omitempty" jsonschema:"at most this number of plans"`
	Replay   string `json:"replay,omitempty" jsonschema:"the ID of a finding: run only its plan and show each request"`
}

func proveCall(w *workshop, in proveArguments) (call, error) {
	err := errors.Join(between("budgetSeconds", in.Budget, 3600), between("plans", in.Plans, 100_000),
		checked(form{"replay", in.Replay, planID().MatchString, "the ID of a finding"}))
	if err != nil {
		return call{}, err
	}
	if in.Scenario != "" {
		if in.Scenario, err = w.file(in.Scenario); err != nil {
			return call{}, err
		}
	}
	if in.Budget == 0 {
		in.Budget = 120
	}
	args := slices.Concat([]string{"prove"}, valued("--scenario", in.Scenario), valued("--replay", in.Replay), count("--plans", in.Plans))
	if in.Replay == "" {
		args = append(args, count("--budget", in.Budget)[0]+"s")
	}
	return call{args: args, writes: true, found: 1}, nil
}
