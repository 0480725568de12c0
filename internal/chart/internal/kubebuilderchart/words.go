package kubebuilderchart

import (
	"regexp"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/arguments"
	"github.com/slipway-dev/slipway/internal/lazy"
)

// knownLines are the lines that follow from a project, in the form of [words.plain].
type knownLines struct {
	name  *regexp.Regexp // the chart's name, with which names begin
	lines map[string]bool
	keys  map[string]bool
}

// pluginLines are in the plug-in's templates and in no configuration.
var pluginLines = []string{
	"{}", "[]", "helm.sh/resource-policy: keep", "--metrics-secure=false", "--metrics-bind-address=0", "--webhook-port=", "--webhook-port=-1",
	"imagePullSecrets:", "env:", "insecureSkipVerify: true", "..svc", "..svc.cluster.local", "metrics-service..svc",
	"name: webhook-cert", "name: metrics-certs", "mountPath: /tmp/k8s-metrics-server/metrics-certs", "scheme: httpshttp", "port: httpshttp", "name: httpshttp", "serverName: ..svc",
}

// pluginKeys are keys before an action in the plug-in's templates.
var pluginKeys = []string{
	"helm.sh/chart", "app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "app.kubernetes.io/name",
	"priorityClassName", "strategy", "topologySpreadConstraints", "tolerations", "affinity", "nodeSelector", "imagePullPolicy",
	"value", "name", "port", "serverName", "replicas",
}

// generatorVersionKey is the key of a CRD's line with the generator's version, which a newer generator changes.
const generatorVersionKey = arguments.VersionAnnotation + ": "

func newWords(chart string) *knownLines {
	w := &knownLines{name: regexp.MustCompile(`\b` + regexp.QuoteMeta(chart) + `\b-?`), lines: map[string]bool{}, keys: map[string]bool{}}
	for _, line := range pluginLines {
		w.lines[line] = true
	}
	for _, key := range pluginKeys {
		w.keys[key] = true
	}
	return w
}

// add adds the lines of a text, also commented ones: kubebuilder's configuration has optional parts in comments.
func (w *knownLines) add(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		line = w.plain(strings.TrimPrefix(strings.TrimSpace(line), "#"))
		w.lines[line] = true
		if key, _, ok := strings.Cut(line, ":"); ok {
			w.keys[key] = true
		}
	}
}

var (
	literal = lazy.Regexp(`\{\{-?\s*"(?:[^"\\]|\\.)*"\s*-?\}\}`) // an action that renders a string, which may contain braces
	action  = lazy.Regexp(`\{\{.*?\}\}`)
	comment = lazy.Regexp(`\s#.*$`)
	items   = lazy.Regexp(`^(-\s+)+`)
	quotes  = strings.NewReplacer(`"`, "", `'`, "")
)

// plain returns a line without actions, quotes, comment, list dash and name prefix.
func (w *knownLines) plain(line string) string {
	line = action().ReplaceAllString(literal().ReplaceAllString(line, ""), "")
	line = comment().ReplaceAllString(line, "")
	line = items().ReplaceAllString(strings.TrimSpace(line), "")
	line = w.name.ReplaceAllString(quotes.Replace(line), "")
	if key, value, ok := strings.Cut(line, ": "); ok {
		return strings.TrimSpace(key + ": " + unprefixed(value))
	}
	return unprefixed(line)
}

// unprefixed returns a text without the dash that follows a prefix. Arguments begin with two dashes and stay.
func unprefixed(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "--") {
		return text
	}
	return strings.TrimPrefix(text, "-")
}

// knows reports whether a template's line follows from the project or the plug-in.
func (w *knownLines) knows(line string) bool {
	trimmed := strings.TrimSpace(line)
	if trimmed == "" || trimmed == "---" || strings.HasPrefix(trimmed, "#") {
		return true
	}
	for _, path := range UsedValues(line) {
		if !isPlugins(path) {
			return false
		}
	}
	plain := w.plain(line)
	if plain == "" || plain == ":" || w.lines[plain] || strings.HasPrefix(plain, generatorVersionKey) {
		return true
	}
	key, rest, ok := strings.Cut(plain, ":")
	if !ok || !w.keys[key] || !action().MatchString(line) {
		return false
	}
	rest = strings.Trim(strings.TrimSuffix(rest, "..svc"), " -./:@")
	return rest == "" || w.lines["name: "+rest]
}
