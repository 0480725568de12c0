package clusterspec

import (
	"fmt"
	"slices"
	"strings"
)

// ParseFlag reads a flag for the API server, with or without its leading dashes, and returns
// it as --name=value. One without a value is true: it must not have the next flag for its value.
func ParseFlag(text string) (string, error) {
	name := strings.TrimPrefix(text, "--")
	if name == "" || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "=") || strings.ContainsAny(strings.SplitN(name, "=", 2)[0], " \t\n") {
		return "", &mistake{fmt.Sprintf("invalid flag of the API server %q", text), "--name=value, one in each item"}
	}
	key, _, valued := strings.Cut(name, "=")
	if !valued {
		name += "=true"
	}
	if hint := ownFlag(flagName(key)); hint != "" {
		return "", &mistake{"--" + key + " of the API server cannot be set", hint}
	}
	return "--" + name, nil
}

// ownFlag says why the user cannot set a flag: it would be accepted and change nothing.
func ownFlag(name string) string {
	switch name {
	case "secure-port":
		return "--port, or the key port, sets the cluster's port"
	case "bind-address":
		return "a cluster listens only at 127.0.0.1"
	case "etcd-servers":
		return "a cluster has its own etcd, which keeps its data with durable: true"
	}
	return ""
}

// parseFileFlag is [ParseFlag] for a flag in a file, which may be a repository's. The API server runs as the user: its
// flags name files that it reads and writes, kubeconfigs that start programs, servers that it connects to, and users
// who are let in. A file may set only [fileFlags]; the command line is the user's.
func parseFileFlag(text string) (string, error) {
	flag, err := ParseFlag(text)
	if err != nil {
		return "", err
	}
	name := flagName(flag)
	if !slices.Contains(fileFlags(), name) {
		return "", &mistake{"--" + name + " is no flag of the API server that a cluster's configuration can set", onCommandLine("--api-server-flag " + name + "=…")}
	}
	return flag, nil
}

// flagName returns the name of a flag as Kubernetes' programs read it.
func flagName(flag string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
	return strings.ReplaceAll(name, "_", "-")
}

// flagsByName returns the values of flags; those of a repeated one are joined.
func flagsByName(flags []string) map[string]string {
	values := map[string]string{}
	for _, flag := range flags {
		name := flagName(flag)
		_, value, _ := strings.Cut(flag, "=")
		values[name] = strings.TrimSpace(values[name] + " " + value)
	}
	return values
}

// fileFlags are the API server's flags that name no file, address or program of this machine, and do not decide who may
// use the cluster: which APIs it serves and how it admits objects, its limits and caches, and what it logs.
func fileFlags() []string {
	return []string{
		"feature-gates", "runtime-config", "runtime-config-emulation-forward-compatible", "emulated-version", "emulation-forward-compatible",
		"min-compatibility-version", "enable-admission-plugins", "disable-admission-plugins",
		"default-not-ready-toleration-seconds", "default-unreachable-toleration-seconds", "enable-garbage-collector", "event-ttl",
		"max-requests-inflight", "max-mutating-requests-inflight", "enable-priority-and-fairness", "max-connection-bytes-per-sec",
		"http2-max-streams-per-connection", "goaway-chance", "request-timeout", "min-request-timeout", "delete-collection-workers",
		"watch-cache", "watch-cache-sizes", "default-watch-cache-size", "livez-grace-period", "shutdown-delay-duration",
		"shutdown-send-retry-after", "shutdown-watch-termination-grace-period", "v", "vmodule", "logging-format", "log-flush-frequency",
		"log-json-info-buffer-size", "log-json-split-stream", "log-text-info-buffer-size", "log-text-split-stream",
		"show-hidden-metrics-for-version", "disabled-metrics",
	}
}

// onCommandLine is the hint for a setting that only the command line has. A file with it is refused beside the flag
// too.
func onCommandLine(flag string) string { return "give it on the command line instead: " + flag }
