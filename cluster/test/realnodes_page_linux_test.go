package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pageLine is a line of docs/guides/real-nodes.md and the tests that try it.
type pageLine struct {
	// words are some of the line, as the page has them.
	words string
	// tests are "TestName", "TestName/subtest", the same after the folder of another package and a colon, or the path
	// of a script of the command. An item of TestRealNodes is its name alone.
	tests []string
}

func tried(words string, tests ...string) pageLine { return pageLine{words, tests} }

// worksOnRealNodes says which tests try the lines of the section "What works".
var worksOnRealNodes = []pageLine{
	tried("Restart policies and back-off", "restarts"),
	tried("init containers", "init containers", "sidecars"),
	tried("Jobs and CronJobs with real exit codes", "jobs", "cron job", "kubectl/pods.txtar"),
	tried("Probes", "probes"),
	tried("lifecycle hooks, grace periods", "hooks and grace"),
	tried("ends at once if its program catches SIGTERM", "../realnode/isolated:TestSignalAtOnce"),
	tried("A program that never catches it", "hooks and grace", "../realnode/isolated:TestDelivery"),
	tried("termination messages", "termination messages"),
	tried("`configMap`, `secret`", "volumes"),
	tried("`projected`", "volumes of all kinds"),
	tried("`downwardAPI`, `emptyDir`", "volumes"),
	tried("`image`", "volumes of all kinds"),
	tried("Changes arrive in the files", "volumes"),
	tried("`/dev/shm` of 64Mi", "shared memory", "../realnode/isolated:TestSharedMemory"),
	tried("`persistentVolumeClaim`", "claims", "TestRealDurable/claims", "retained", "one pod a claim"),
	tried("`ephemeral` volumes", "volumes of all kinds"),
	tried("`kubectl logs`", "logs"),
	tried("`-f`", "hooks and grace"),
	tried("`--previous`", "restarts"),
	tried("`exec` with and without a terminal", "exec", "commands end"),
	tried("`attach`", "attach"),
	tried("`cp` if the image has `tar`", "kubectl/pods.txtar"),
	tried("`port-forward`", "port-forward"),
	tried("`debug` without `--target`", "debug", "debug with a target"),
	tried("Services over TCP and UDP", "network"),
	tried("Services of the type `LoadBalancer` and Ingresses", "cluster/addresses.txtar"),
	tried("webhooks and aggregated APIs in pods", "deploy/real.txtar", "aggregated API"),
	tried("programs of this machine", "host service"),
	tried("A Service without ready endpoints refuses connections", "network", "../realnode/services:TestNobodyThereRefuses"),
	tried("is ready but does not listen yet, a Service accepts connections and then resets them", "not listening"),
	tried("give a pod that others wait for a readiness probe", "probes"),
	tried("`hostPort` over TCP", "host ports"),
	tried("In-place resizes of pods that run", "resize"),
	tried("On a machine without limits only the status", "resize", "TestRealPlain/resize"),
	tried("A node whose Node you delete registers again at once", "TestRealDurable/deleted node"),
	tried("Its pods run on", "TestRealDurable/deleted node"),
	tried("The Node of a stopped node comes back", "TestRealDurable/deleted node"),
	tried("its pods are removed a second after the Node", "TestRealDurable/deleted node"),
	tried("Limits of memory and CPU", "limits"),
	tried("`kubectl top nodes`", "metrics"),
	tried("HorizontalPodAutoscalers", "metrics"),
	tried("The cluster serves the metrics API", "metrics", "limits"),
	tried("metrics-server is not needed", "metrics"),
	tried("A container has figures one second after its start", "metrics"),
	tried("The first request in half a minute takes a second", "../metricsapi:TestRates"),
	tried("The cluster asks kubelets only when", "../metricsapi:TestKubeletsAreAskedLazily"),
	tried("A node that is not Ready has none", "../apiserver:TestMetricsOfLostNodes"),
	tried("Several nodes", "network", "drain"),
	tried("a durable cluster comes back with its pods", "TestRealDurable"),
	tried("several clusters at once", "TestRealThreeClusters"),
	tried("rollouts, `drain` and evictions within a budget", "rollout", "drain"),
	tried("priorities with preemption", "priorities"),
	tried("quotas and limit ranges", "quota"),
	tried("Sidecar containers", "sidecars"),
	tried("Nodes have no more rights", "identity"),
}

// doesNotOnRealNodes says which tests try the lines of the section "What does not".
var doesNotOnRealNodes = []pageLine{
	tried("Real nodes refuse `hostPath` volumes, `hostPID`, `hostIPC`, `shareProcessNamespace` and `hostUsers: false`", "refused"),
	tried("They refuse pods with a `runtimeClassName`", "refused"),
	tried("`hostNetwork` is the node's network", "host network"),
	tried("network storage and volumes of other CSI drivers", "refused", "foreign volumes"),
	tried("block devices, other devices", "refused"),
	tried("seccomp and AppArmor profiles of the type `Localhost`", "refused"),
	tried("`mountPropagation: Bidirectional`", "refused"),
	tried("volumes mounted on `/` or in `/proc`", "refused"),
	tried("unknown capabilities", "refused capability"),
	tried("sysctls that do not begin with `net.`", "refused"),
	tried("SELinux labels are ignored", "SELinux"),
	tried("The API server refuses such a pod when it is created", "refused"),
	tried("report that in an Event `FailedCreate`", "refused controllers"),
	tried("If there are simulated nodes too, the pod is simulated", "TestRealNodeJoins/pods go by their images", "TestRealNodeJoins/daemons are on nodes of both kinds"),
	tried("waits on real nodes, and an Event on it reports the reason", "refused capability", "foreign volumes"),
	tried("`kubectl debug --target` is refused", "debug with a target", "kubectl/pods.txtar"),
	tried("The debugging container waits", "debug with a target"),
	tried("`hostPort` over UDP or SCTP", "host ports"),
	tried("An Event `HostPortNotServed` on the pod", "host ports"),
	tried("Ports of pods in the node's network", "../realnode/hostports:TestWanted"),
	tried("`privileged` and `NET_ADMIN` do not reach the pod's network", "privileged"),
	tried("pods have no way out", "network", "TestRealEgress/off"),
	tried("draws a Warning `NoWayOut`", "network", "../realnode:TestNoWayOutEvent"),
	tried("The nodes' log has it as well", "../realnode/dns:TestOutside"),
	tried("program of this machine](#programs-of-this-machine) can stand in", "host service"),
	tried("On plain nodes pods have the machine's network", "TestPlain/serving"),
	tried("For an ordinary user there is one user id", "owners", "TestRealFurtherIDs"),
	tried("Each container sees it as the id that it asks for", "owners", "volumes"),
	tried("So `runAsUser` and `fsGroup` work", "volumes", "claims"),
	tried("8192 connections of TCP and 2048 flows of UDP", "../realnode/services:TestShares", "../realnode/services:TestFlowsHaveALimit"),
	tried("new connections are reset", "../realnode/services:TestShares"),
	tried("the UDP flow that was idle longest ends", "../realnode/services:TestOldestFlowEnds"),
	tried("its server sees the machine's address", "../realnode/services:TestServerSeesTheMachine"),
	tried("`sessionAffinity: ClientIP` keeps a client", "../realnode/services:TestAffinity"),
	tried("NetworkPolicies are accepted and not enforced", "deploy/real.txtar"),
	tried("The API server answers with a warning", "TestSimulated/behaviours"),
	tried("Logical clusters", "logical cluster"),
}

// claimsOnRealNodes says which tests try the lines of the section "Claims".
var claimsOnRealNodes = []pageLine{
	tried("The data of a claim lie in a folder", "claims"),
	tried("All real nodes share it", "one pod a claim"),
	tried("pods on several nodes may use one claim", "one pod a claim"),
	tried("only `ReadWriteOncePod` is enforced", "one pod a claim"),
	tried("one that becomes real finds its volume empty", "TestRealNodeJoins/pods go by their images"),
	tried("`fsGroup`, `subPath`", "claims"),
	tried("`readOnly` work as anywhere", "volumes of all kinds"),
	tried("The requested size is no limit", "volumes of all kinds"),
	tried("| the claim is deleted, reclaim policy `Delete`", "claims"),
	tried("| the claim is deleted, reclaim policy `Retain`", "retained"),
	tried("| a reset (`slipway cluster reset`) removes the claim", "TestRealDurable/claims"),
	tried("| a reset keeps the claim", "TestRealDurable/claims"),
	tried("| a reset brings a deleted claim back", "TestRealDurable/claims"),
	tried("| a durable cluster ends", "TestRealDurable/claims"),
	tried("| a throw-away cluster ends", "next start"),
	tried("`Retain` does not keep the data of a PersistentVolume that is deleted", "retained"),
	tried("give it to a new claim, which names it in `spec.volumeName`", "retained"),
	tried("A claim of a class with another provisioner waits", "foreign volumes"),
	tried("An Event `ExternalProvisioning` on the claim names it", "foreign volumes"),
	tried("an Event `WaitingForVolume` on the pod", "foreign volumes"),
}

// TestRealNodesPage: each sentence of the three sections has a test that tries it, and each test's words are there
// still.
func TestRealNodesPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/guides/real-nodes.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []pageLine
	for title, lines := range map[string][]pageLine{"What works": worksOnRealNodes, "What does not": doesNotOnRealNodes, "Claims": claimsOnRealNodes} {
		all = append(all, lines...)
		section, ok := sectionOf(string(text), title)
		if !ok {
			t.Errorf("the page has no section %q", title)
		}
		comparePage(t, title, section, lines)
	}
	tests := testsNamed(t)
	for _, line := range all {
		if len(line.tests) == 0 {
			t.Errorf("no test tries %q", line.words)
		}
		for _, name := range line.tests {
			if !tests.has(t, name) {
				t.Errorf("there is no test %q, which is to try %q", name, line.words)
			}
		}
	}
	for _, item := range everyday {
		if !slices.ContainsFunc(all, func(l pageLine) bool { return slices.Contains(l.tests, item.name) }) {
			t.Errorf("no line of the page belongs to the test %q", item.name)
		}
	}
}

// comparePage compares a section with what tests try, both ways.
func comparePage(t *testing.T, title, section string, lines []pageLine) {
	t.Helper()
	sentences := sentencesOf(section)
	if len(sentences) < 10 {
		t.Errorf("%s: only %d sentences were found", title, len(sentences))
	}
	for _, sentence := range sentences {
		if !slices.ContainsFunc(lines, func(l pageLine) bool { return strings.Contains(sentence, l.words) }) {
			t.Errorf("%s: no test tries %q", title, sentence)
		}
	}
	for _, line := range lines {
		if !slices.ContainsFunc(sentences, func(s string) bool { return strings.Contains(s, line.words) }) {
			t.Errorf("%s: the page does not say %q any more, which %v try", title, line.words, line.tests)
		}
	}
}

// sectionOf is the text below a heading.
func sectionOf(page, title string) (string, bool) {
	_, section, found := strings.Cut(page, "\n## "+title+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	return section, found
}

// sentencesOf are the sentences of paragraphs and lists, the items within them that a semicolon ends, and the rows of
// tables.
func sentencesOf(section string) (all []string) {
	section = strings.ReplaceAll(section, "\n- ", "\n\n")
	for paragraph := range strings.SplitSeq(section, "\n\n") {
		words := strings.Fields(paragraph)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "```"):
			continue
		case words[0] == "|":
			all = append(all, strings.Split(strings.TrimSpace(paragraph), "\n")[2:]...) // without the head
			continue
		case words[0] == "-":
			words = words[1:]
		}
		var sentence []string
		for i, word := range words {
			sentence = append(sentence, word)
			if i == len(words)-1 || strings.HasSuffix(word, ".") || strings.HasSuffix(word, ";") {
				all = append(all, strings.Join(sentence, " "))
				sentence = nil
			}
		}
	}
	return all
}

// named are the tests of packages, by folder: the strings in the file of each, among them its subtests' names.
type named map[string]map[string][]string

func testsNamed(t *testing.T) named { return named{".": testsIn(t, ".")} }

// has says whether there is a test of that name.
func (n named) has(t *testing.T, name string) bool {
	t.Helper()
	if strings.HasSuffix(name, ".txtar") {
		_, err := os.Stat(filepath.Join("../../internal/cli/testdata/script", name))
		return err == nil
	}
	dir, test, other := strings.Cut(name, ":")
	if !other {
		dir, test = ".", name
	}
	if n[dir] == nil {
		n[dir] = testsIn(t, dir)
	}
	function, subtest, _ := strings.Cut(test, "/")
	if !strings.HasPrefix(test, "Test") {
		return slices.ContainsFunc(slices.Concat(ofUsers, ofPods, everyday, alone), func(i item) bool { return i.name == test })
	}
	words, ok := n[dir][function]
	return ok && (subtest == "" || slices.Contains(words, subtest))
}

// testsIn reads a folder's tests.
func testsIn(t *testing.T, dir string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		ast.Inspect(parsed, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if word, err := strconv.Unquote(lit.Value); err == nil {
					words = append(words, word)
				}
			}
			return true
		})
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				all[f.Name.Name] = words
			}
		}
	}
	return all
}
