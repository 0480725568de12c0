package devloop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/dev/loop"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// project is the project that the loop works on, see [loop.Project].
type project struct {
	root     string
	settings Loop
	session  *operation.Session // of all but builds
	builds   *operation.Session // of builds, which run beside the rest
	starts   *operation.Session // of what looks at how the manager is started, beside builds
	saves    *operation.Session // of what looks at saves
	asks     *operation.Session // of what looks at the manager's requests
	life     context.Context    // of the loop
	options  dev.Options
	handler  report.Handler
	lines    atomic.Pointer[clusterctl.Lines] // of the manager's log; nil: they are not recorded

	around  atomic.Pointer[dev.Session]
	page    atomic.Pointer[delivery.ShownPage] // nil: none
	lost    atomic.Bool                        // the cluster, or what the loop brought into it
	owned   bool                               // the loop has started the cluster
	access  delivery.Access                    // has mu for those outside a cycle
	granted types.UID                          // of the ServiceAccount; empty: not known; has mu
	warned  bool                               // of a deployed operator
	pausing atomic.Bool                        // a deployed operator is to be paused

	pauseAsked atomic.Bool // for by a key, which wants an answer
	doubtful   *comparison // of definitions that are about to be applied; nil: none is needed
	unserved   bool        // the webhooks may have changed since the manager was started
	program    dev.Program
	rest       *time.Timer        // gives memory back
	output     *process.Lines     // of managers
	manager    *manager           // that runs, or did; has mu
	looked     atomic.Int64       // how often saves were looked at; begins with 1
	checked    atomic.Int64       // looked, when it was read how the manager is started; 0: it is to be read
	debug      atomic.Bool        // managers run under a debugger
	logLevel   atomic.Int32       // which of logLevels managers have
	building   atomic.Bool        // inputs are about to change
	learning   context.CancelFunc // ends the question after them

	generating sync.RWMutex // held while generated files are written and not known to be the loop's own

	inputs  atomic.Pointer[inputs]
	due     due // has mu
	mu      sync.Mutex
	written map[string]stamp  // what the loop itself has written
	sources []string          // of Go, that changed since inputs were read
	brings  map[string]string // what they imported and embedded then
	tests   []string          // folders with changes that no tests have passed for
	lacks   []permission      // the manager has asked for and was refused
	writes  writes            // of the manager; has mu
}

// due is what the next installation has to bring.
type due struct{ definitions, dependencies, access, webhooks bool }

// everything is due at the beginning.
var everything = due{true, true, true, true}

func (d due) or(other due) due {
	return due{d.definitions || other.definitions, d.dependencies || other.dependencies, d.access || other.access, d.webhooks || other.webhooks}
}

// owe adds to what is due.
func (p *project) owe(d due) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.due = p.due.or(d)
}

// take returns what is due, and leaves nothing.
func (p *project) take() due {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.due
	p.due = due{}
	return d
}

// stamp is how a file was when the loop had written it.
type stamp struct {
	size     int64
	modified time.Time
}

func stampOf(file string) stamp {
	info, err := os.Stat(file)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// Generate brings generated files up to date.
func (p *project) Generate(ctx context.Context) (follows loop.Work, text string, err error) {
	first := &firstMistake{next: p.session.Handler}
	changed, err := p.regenerate(ctx, first)
	switch {
	case err == nil || first.count == 0 || ctx.Err() != nil:
	case first.count == 1:
		err = errors.New(first.text) // in place of one that points to what was reported
	default:
		err = fmt.Errorf("%s; and %d more", first.text, first.count-1)
	}
	if err != nil {
		return 0, "", err
	}
	made, err := p.code(p.session).Generation()
	if err != nil {
		return 0, "", err
	}
	for _, f := range changed {
		if filepath.Ext(f.Path) == ".go" {
			follows |= loop.Build
			continue
		}
		follows |= loop.Install
		_, definition := f.Locate("")
		p.owe(due{definitions: definition, access: slices.Contains(made.RoleFiles(), p.relative(f.Path)), webhooks: !definition})
	}
	if len(changed) == 0 {
		return 0, "no changes", nil
	}
	return follows, operation.Count(len(changed), "file") + " changed", nil
}

// regenerate writes generated files that are out of date, whose changes are no saves, and returns them.
func (p *project) regenerate(ctx context.Context, h report.Handler) ([]generate.File, error) {
	p.generating.Lock()
	defer p.generating.Unlock()
	apart := operation.Apart(p.session)
	apart.Handler = h
	result, err := generation.Regenerate(ctx, apart, p.root, generation.Generation{})
	if err != nil {
		return nil, err
	}
	changed := slices.DeleteFunc(result.Files, func(f generate.File) bool { return f.Action == report.Unchanged })
	for _, f := range changed {
		p.wrote(f.Path)
	}
	return changed, nil
}

// wrote notes a file of the loop's own, whose change is no save.
func (p *project) wrote(file string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.written == nil {
		p.written = map[string]stamp{}
	}
	p.written[file] = stampOf(file)
}

// isOwn reports whether a file is as the loop has written it. Code of people is none of what the loop is writing.
func (p *project) isOwn(file string) bool {
	if filepath.Ext(file) != ".go" || strings.HasPrefix(filepath.Base(file), "zz_generated") {
		p.generating.RLock()
		defer p.generating.RUnlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	was, known := p.written[file]
	return known && was == stampOf(file)
}

// Install brings what is due into the cluster: CRDs, those of other modules, the manager's rights, its webhooks.
func (p *project) Install(ctx context.Context) (string, error) {
	if p.lost.Load() {
		if err := p.reconnect(ctx); err != nil {
			return "", err
		}
	}
	due := p.take()
	counted := countObjects(p.handler)
	if err := p.install(ctx, due, counted); err != nil {
		p.owe(due)
		return "", err
	}
	return counted.text(), nil
}

func (p *project) install(ctx context.Context, d due, h report.Handler) error {
	apart := operation.Apart(p.session)
	apart.Handler = h
	if d.definitions || d.dependencies {
		i := delivery.Installation{To: delivery.Target{Cluster: p.around.Load().Cluster()}, Force: p.settings.ForceConflicts, NoGenerate: true, Dependencies: d.dependencies, KeepConversion: true, Before: p.refuseBreaking}
		if _, err := delivery.Install(ctx, apart, i); err != nil {
			return err
		}
		if err := p.warnBreaking(ctx); err != nil {
			return err
		}
	}
	if d.access && p.settings.As == AsManager {
		access, err := delivery.Grant(ctx, apart, p.root, p.around.Load().Cluster().Reporting(h))
		if err != nil {
			return err
		}
		p.grant(ctx, access)
		p.meetDeployed(access)
	}
	if d.webhooks || d.definitions {
		p.unserved = true
	}
	return nil
}

// meetDeployed pauses an operator that is deployed in the cluster, too, if that is asked for. Else it warns of it,
// once.
func (p *project) meetDeployed(access delivery.Access) {
	switch {
	case len(access.Running) == 0:
		if p.pauseAsked.Swap(false) {
			p.handler.Handle(report.Note{Text: "no deployed copy of the operator has replicas in this cluster"})
		}
	case p.pausing.Load():
		p.around.Load().Pause(access.All)
		p.unserved = true
	case !p.warned:
		p.warned = true
		p.handler.Handle(report.Warning{Text: "the operator is deployed in this cluster, too, and both managers reconcile: " + strings.Join(access.Running, ", ") +
			"; --pause-deployed, or key p, scales it to zero until the end"})
	}
}

// Samples applies the samples.
func (p *project) Samples(ctx context.Context) (string, error) {
	counted := countObjects(p.handler)
	objects := p.code(p.session).SampleObjects(ctx)
	if len(objects) == 0 {
		return "no samples", nil
	}
	err := p.around.Load().Cluster().Reporting(counted).Apply(ctx, distinct(objects), ship.ApplyOptions{Force: true})
	return counted.text(), err
}

// Build compiles the manager.
func (p *project) Build(ctx context.Context) (changed bool, err error) {
	manager, err := p.code(p.builds).Manager(func(pkg string) *report.Error {
		return &report.Error{Hint: "--manager names the manager's", Next: "slipway dev --manager " + pkg}
	})
	if err != nil {
		return false, err
	}
	unknown := p.building.Swap(true) // until it is known what was built
	messages := &compilerMessages{handler: p.handler, session: p.builds, root: p.root}
	o := p.options
	o.Debug, o.WebhookPort = p.debug.Load(), p.program.WebhookPort
	o.Code = func() *codebase.Codebase { return p.code(p.builds) }
	check := p.check()
	lines := process.NewLines(messages.line)
	o.Stderr, o.Handler = lines, withoutSteps(p.handler)
	program, err := dev.Build(ctx, o, manager.Package)
	lines.Flush()
	check()
	if err != nil {
		if messages.first != "" && ctx.Err() == nil {
			return false, fmt.Errorf("%s", messages.first)
		}
		return false, err
	}
	changed, p.program = program.Changed || p.program.Path == "", program
	p.wrote(program.Path)
	p.learnInputs(o, manager.Package, unknown)
	return changed, nil
}

// check reads how the manager is started, until the function that it returns is called. A mistake is read again when
// the manager is to be started.
func (p *project) check() (wait func()) {
	looked, around, done := p.looked.Load(), p.around.Load(), make(chan struct{})
	p.checked.Store(0)
	go func() {
		defer close(done)
		if around.Check(p.code(p.starts)) == nil {
			p.checked.Store(looked)
		}
	}()
	return func() { <-done }
}

// learnInputs asks the go command what the manager is built from, beside the rest, if that may have changed since it
// was asked: a file that changed imports or embeds other things than before, or is in a folder that was not there then.
func (p *project) learnInputs(o dev.Options, pkg string, unknown bool) {
	p.mu.Lock()
	in := p.inputs.Load()
	stale := unknown || in == nil
	for _, file := range p.sources {
		brings := bringsIn(file)
		if known, ok := p.brings[file]; !ok || known != brings || in != nil && !in.folders[filepath.Dir(file)] {
			stale = true
		}
		if p.brings == nil {
			p.brings = map[string]string{}
		}
		p.brings[file] = brings
	}
	p.sources = nil
	p.mu.Unlock()
	if !stale {
		p.building.Store(false)
		return
	}
	if p.learning != nil {
		p.learning()
	}
	ctx, cancel := context.WithCancel(p.life)
	p.learning = cancel
	go func() {
		defer cancel()
		if read, err := readInputs(ctx, o, pkg); err == nil && ctx.Err() == nil {
			p.inputs.Store(read)
			p.building.Store(false)
		}
	}()
}

// Test runs the tests of the packages that changed since they last passed.
func (p *project) Test(ctx context.Context) (string, error) {
	p.mu.Lock()
	folders := slices.Clone(p.tests)
	p.mu.Unlock()
	if len(folders) == 0 {
		return "no package has changed", nil
	}
	if err := p.test(ctx, folders); err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tests = slices.DeleteFunc(p.tests, func(f string) bool { return slices.Contains(folders, f) })
	return operation.Count(len(folders), "package") + " passed", nil
}

// mostMistakes is how many mistakes are shown at a time, as compilers do: one bracket that lacks may make hundreds.
const mostMistakes = 10

// firstMistake passes on events, and keeps the first finding for which nothing is generated. One goroutine uses it.
type firstMistake struct {
	next  report.Handler
	text  string
	count int
}

// Handle keeps the finding.
func (m *firstMistake) Handle(e report.Event) {
	if f, is := e.(report.Finding); is && f.Fatal {
		if m.count++; m.count > mostMistakes {
			return
		}
		if m.count == 1 {
			m.text = f.Position.String() + ": " + f.Message
		}
	}
	m.next.Handle(e)
}

// objectCount passes on events, but for objects that stay as they are, and counts the others.
type objectCount struct {
	next             report.Handler
	mu               sync.Mutex
	changed, objects int
}

func countObjects(next report.Handler) *objectCount { return &objectCount{next: next} }

// Handle counts objects. Steps and notes of parts of the loop are not shown: the loop has its own.
func (c *objectCount) Handle(e report.Event) {
	switch e := e.(type) {
	case report.Object:
		c.mu.Lock()
		c.objects++
		if e.Action != report.Unchanged {
			c.changed++
		}
		c.mu.Unlock()
		if e.Action != report.Unchanged {
			c.next.Handle(e)
		}
	case report.Warning, report.Finding, report.Progress:
		c.next.Handle(e)
	}
}

// text sums up.
func (c *objectCount) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed == 0 {
		return "no changes"
	}
	return fmt.Sprintf("%d of %s changed", c.changed, operation.Count(c.objects, "object"))
}

// distinct leaves out objects that come twice, as from a folder and from a file in it.
func distinct(objects []*unstructured.Unstructured) (once []*unstructured.Unstructured) {
	for _, o := range objects {
		same := func(other *unstructured.Unstructured) bool {
			return o.GroupVersionKind() == other.GroupVersionKind() && o.GetNamespace() == other.GetNamespace() && o.GetName() == other.GetName()
		}
		if !slices.ContainsFunc(once, same) {
			once = append(once, o)
		}
	}
	return once
}

// relative is a file's name in the project, with slashes; "" if it is outside.
func (p *project) relative(file string) string {
	rel, err := filepath.Rel(p.root, file)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return strings.ReplaceAll(rel, string(filepath.Separator), "/")
}
