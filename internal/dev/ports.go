package dev

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/report"
)

// Flags by which managers are told where to listen: kubebuilder's of health probes, and of webhooks those of slipway's
// own scaffolds.
const (
	probeFlag       = "health-probe-bind-address"
	probePort       = "8081" // unless probeFlag says otherwise
	webhookHostFlag = "webhook-host"
	webhookPortFlag = "webhook-port"
	webhookPort     = "9443" // unless webhookPortFlag, or the manager's code, says otherwise
)

// Loopback is where a manager listens unless another address is asked for.
const Loopback = "127.0.0.1"

// listening is where a manager is to listen.
type listening struct {
	host   string // an IP address
	called string // host:port at which the API server reaches its webhooks, if the user says so
	args   []string
	env    []string // the manager's, as the project says
}

// listens is where the manager with these arguments is to listen.
func (o Options) listens(args []string) (listening, error) {
	l := listening{host: cmp.Or(o.Address, Loopback), args: args}
	if net.ParseIP(l.host) == nil {
		return l, &report.Error{What: "invalid IP address", Where: "--address " + l.host, Hint: "use an IP address, such as 127.0.0.1, or 0.0.0.0 for all addresses of this machine"}
	}
	if o.WebhookAddress == "" {
		return l, nil
	}
	if l.called = hostAndPort(o.WebhookAddress); l.called == "" {
		return l, &report.Error{What: "invalid address of webhooks", Where: "--webhook-address " + o.WebhookAddress,
			Hint: "use a host name or IP address at which the API server reaches this machine, and a port if it is another one: 172.18.0.1, host.example.com:9444", Code: report.UsageCode}
	}
	return l, nil
}

// hostAndPort completes a host name or IP address, with a port or without one, which becomes 0; it is empty for what is
// neither.
func hostAndPort(text string) string {
	host, port := text, "0"
	if h, p, err := net.SplitHostPort(text); err == nil {
		number, err := strconv.ParseUint(p, 10, 16)
		if err != nil || number == 0 {
			return ""
		}
		host, port = h, p
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	if ip == nil && len(validation.IsDNS1123Subdomain(host)) > 0 || ip.IsUnspecified() {
		return ""
	}
	return net.JoinHostPort(host, port)
}

// proxied is the address at which slipway is to listen for calls of webhooks: at a free port, unless the user names the
// port at which the API server reaches it, or to which that one is forwarded.
func (l listening) proxied() string {
	_, port, err := net.SplitHostPort(l.called)
	if err != nil {
		return net.JoinHostPort(l.host, "0")
	}
	return net.JoinHostPort(l.host, cmp.Or(flagValue(l.args, webhookPortFlag), port))
}

// reached is the address at which the API server reaches slipway, which listens at another one: on the same machine, or
// by what the user names.
func (l listening) reached(listens string) string {
	host, port, _ := net.SplitHostPort(listens) // which is complete
	if named, at, err := net.SplitHostPort(l.called); err == nil {
		if at == "0" {
			at = port
		}
		return net.JoinHostPort(named, at)
	}
	if ip := net.ParseIP(host); ip.IsUnspecified() {
		host = Loopback
	}
	return net.JoinHostPort(host, port)
}

func (l listening) webhookPort(manager Program) string {
	return cmp.Or(flagValue(l.args, webhookPortFlag), manager.WebhookPort, webhookPort)
}

// everywhere tells whether all addresses are asked for.
func (l listening) everywhere() bool { return net.ParseIP(l.host).IsUnspecified() }

// A placement is how a manager is started so that it listens where it is to.
type placement struct {
	args     []string
	webhooks string // host:port at which it serves them
	observed bool   // it logs where its reconciles begin and end
}

// place returns the arguments of a compiled manager. Behind a subcommand come flags that have it listen where it is to:
// those that it has, by the project's own code, and the user has not set. Health probes move to a free port if theirs
// is taken: a developer's machine has no kubelet to ask for them, and a second operator, or what else listens there,
// would keep the manager from starting. So do the webhooks that slipway calls for the cluster.
func (o Options) place(manager Program, l listening, code texts, webhooks bool) (placement, error) {
	program := manager.texts
	if program == nil {
		var err error
		if program, err = readTexts(manager.Path, soughtTexts()); err != nil {
			return placement{}, err
		}
	}
	first := words(l.args)
	// Libraries have such names, too, also where no flag is called so.
	has := func(name string) bool { return code[name] && program[name] }
	var flags []string
	if has(probeFlag) && program[":"+probePort] && !given(l.args, probeFlag) {
		flags = append(flags, "--"+probeFlag+"="+o.probes(l))
	}
	args := l.args[first:]
	p := placement{webhooks: net.JoinHostPort(Loopback, l.webhookPort(manager))}
	// A flag that the user sets is there, also if the code does not say so.
	hosted, movable := has(webhookHostFlag), has(webhookPortFlag) || given(l.args, webhookPortFlag)
	switch {
	case webhooks && hosted:
		flags, args = append(flags, "--"+webhookHostFlag+"="+Loopback), without(args, webhookHostFlag)
	case hosted && movable && !given(l.args, webhookHostFlag): // as scaffolds of slipway have both
		flags = append(flags, "--"+webhookHostFlag+"="+l.host)
	}
	if webhooks && movable {
		var err error
		if p.webhooks, err = l.free(p.webhooks); err != nil {
			return p, err
		}
		_, port, _ := net.SplitHostPort(p.webhooks)
		flags, args = append(flags, "--"+webhookPortFlag+"="+port), without(args, webhookPortFlag)
	}
	if o.LogLevel != "" {
		if !has(zapFlag) {
			o.Handler.Handle(report.Warning{Text: "the manager has no flag --" + zapFlag + ": its log level stays; the flags of controller-runtime's package log/zap come with opts.BindFlags(flag.CommandLine)"})
		} else {
			flags, args = append(flags, "--"+zapFlag+"="+o.LogLevel), without(args, zapFlag)
		}
	}
	if p.observed = o.Observed && o.LogLevel == "" && has(zapFlag) && !code[ownLevel] && !slices.ContainsFunc(l.args, isOfZap); p.observed {
		flags = append(flags, "--"+zapFlag+"="+observedLevel)
	}
	if webhooks && !movable {
		if err := webhooksTaken(p.webhooks); err != nil {
			return p, err
		}
	}
	if webhooks && !hosted {
		o.warnOpen(l, p.webhooks)
	}
	p.args = slices.Concat(l.args[:first], flags, args) // further on flags may end: at the first argument that is none
	return p, nil
}

// zapFlag sets the log level of managers whose code binds the flags of controller-runtime's package log/zap.
const zapFlag = "zap-log-level"

// observedLevel is the verbosity with which controller-runtime logs where reconciles begin and end: reconcileHandler in
// sigs.k8s.io/controller-runtime/pkg/internal/controller/controller.go.
const observedLevel = "5"

// isOfZap reports whether an argument is one of the flags of controller-runtime's package log/zap.
func isOfZap(arg string) bool { return strings.HasPrefix(strings.TrimLeft(arg, "-"), "zap-") }

// ownLevel stands among the flags of code that sets options from which the usual log level cannot be known.
const ownLevel = "its own log level"

// ofOwnLevel are fields of controller-runtime's zap.Options, and ownEncoders its functions, that code has then.
var (
	ofOwnLevel  = []string{"Level", "Encoder", "NewEncoder", "EncoderConfigOptions", "TimeEncoder"}
	ownEncoders = []string{"Level", "Encoder", "JSONEncoder", "ConsoleEncoder"}
)

// flagsOf are those flags that are looked for which code of a project has.
func flagsOf(code *codebase.Codebase) texts {
	has := texts{}
	for _, name := range []string{probeFlag, webhookHostFlag, webhookPortFlag} {
		if known, err := code.HasFlag(name); err == nil && known {
			has[name] = true
		}
	}
	if binds, err := code.Calls("BindFlags"); err == nil && binds {
		has[zapFlag] = true
	}
	for _, name := range ofOwnLevel {
		if sets, err := code.SetsField(name); err != nil || sets {
			has[ownLevel] = true
		}
	}
	for _, name := range ownEncoders {
		if calls, err := code.Calls(name); err != nil || calls {
			has[ownLevel] = true
		}
	}
	return has
}

// warnOpen warns of a manager that serves its webhooks to other machines.
func (o Options) warnOpen(l listening, webhooks string) {
	if l.everywhere() {
		return
	}
	_, port, _ := net.SplitHostPort(webhooks) // which is complete
	o.Handler.Handle(report.Warning{Text: "other machines can reach the manager's webhooks: it serves them at all addresses, port " + port + ": it has no flag --" + webhookHostFlag +
		"; add one that sets webhook.Options.Host, or block the port by a firewall"})
}

// free is an address of loopback, or with a free port if that one is taken, as by slipway's own proxy.
func (l listening) free(address string) (string, error) {
	if webhooksTaken(address) == nil && l.proxied() != address {
		return address, nil
	}
	return freeAddress()
}

// probes is the address for health probes: the usual port, or a free one.
func (o Options) probes(l listening) string {
	usual := net.JoinHostPort(l.host, probePort)
	if !taken(usual) && !taken(":"+probePort) {
		return usual
	}
	o.Handler.Handle(report.Note{Text: "port " + probePort + " is taken: the manager serves its health probes at a free port, which its log names; " +
		"if another manager of this project uses it, stop that one, since both would reconcile"})
	return net.JoinHostPort(l.host, "0")
}

// without leaves a flag out of arguments.
func without(args []string, name string) (rest []string) {
	for i := 0; i < len(args); i++ {
		if !isFlag(args[i], name) {
			rest = append(rest, args[i])
			continue
		}
		if !strings.Contains(args[i], "=") {
			i++ // its value
		}
	}
	return rest
}

// given tells whether arguments set a flag.
func given(args []string, name string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return isFlag(arg, name) })
}

// flagValue is the value that arguments give a flag, the last one; empty if they do not.
func flagValue(args []string, name string) (value string) {
	for i, arg := range args {
		if !isFlag(arg, name) {
			continue
		}
		_, joined, ok := strings.Cut(arg, "=")
		if !ok && i+1 < len(args) {
			joined = args[i+1]
		}
		value = joined
	}
	return value
}

// isFlag tells whether an argument is a flag of that name, with one hyphen or two.
func isFlag(arg, name string) bool {
	arg, _, _ = strings.Cut(arg, "=")
	return arg == "-"+name || arg == "--"+name
}

// webhooksTaken is why a manager cannot serve webhooks at an address, or nil. Managers without a flag for it listen at
// all addresses, and are asked at one: not every system refuses the one to who has the other.
func webhooksTaken(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if !taken(address) && !taken(":"+port) {
		return nil
	}
	return &report.Error{
		What: "the port of the webhooks is taken", Where: address,
		Hint: "another manager on this machine, or a pod on a plain node, uses it; stop it, name a free port, or run without webhooks",
		Next: "slipway run -- --" + webhookPortFlag + "=9444",
	}
}

// untaken explains that slipway cannot listen for calls of webhooks.
func (l listening) untaken(err error) error {
	return &report.Error{What: "cannot listen for calls of webhooks", Where: l.proxied(), Err: err,
		Hint: "--address names an address of this machine, and --webhook-address HOST:PORT the port at which the API server reaches it; without a port a free one is used"}
}

// taken reports whether a manager could not listen at a TCP address of this machine.
func taken(address string) bool {
	l, err := net.Listen("tcp", address)
	if err == nil {
		l.Close()
	}
	return err != nil
}
