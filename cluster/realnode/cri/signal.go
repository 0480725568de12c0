package cri

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// stopSignal returns the signal that the pod, or else the image, sets. For an unknown one it returns SIGTERM, so that
// the container still ends.
func (c *container) stopSignal() syscall.Signal {
	text := c.image.Config.StopSignal
	if s := c.config.GetStopSignal(); s != runtimeapi.Signal_SIGNAL_RUNTIME_DEFAULT {
		text = strings.NewReplacer("SIGNAL_", "", "PLUS", "+", "MINUS", "-").Replace(s.String())
	}
	if s := signalOf(text); s != 0 {
		return s
	}
	return syscall.SIGTERM
}

// firstRealTime and lastRealTime are SIGRTMIN and SIGRTMAX of the C library. No signal has a higher number.
const firstRealTime, lastRealTime = 34, 64

// signalOf parses a signal's number or its name, with or without SIG. It returns 0 for an unknown one.
func signalOf(text string) syscall.Signal {
	if number, err := strconv.Atoi(text); err == nil {
		return between(number, 1, lastRealTime)
	}
	name := strings.TrimPrefix(strings.ToUpper(text), "SIG")
	if rest, ok := strings.CutPrefix(name, "RTMIN"); ok {
		return realTime(firstRealTime, rest)
	}
	if rest, ok := strings.CutPrefix(name, "RTMAX"); ok {
		return realTime(lastRealTime, rest)
	}
	return unix.SignalNum("SIG" + first(name))
}

// realTime returns the signal at a distance, such as +3, from the first or last real-time signal.
func realTime(from int, distance string) syscall.Signal {
	if distance == "" {
		return syscall.Signal(from)
	}
	number, err := strconv.Atoi(distance)
	if err != nil || !strings.ContainsAny(distance[:1], "+-") {
		return 0
	}
	return between(from+number, firstRealTime, lastRealTime)
}

func between(number, low, high int) syscall.Signal {
	if number < low || number > high {
		return 0
	}
	return syscall.Signal(number)
}

// first returns the usual name for the alias of a signal.
func first(name string) string {
	switch name {
	case "CLD":
		return "CHLD"
	case "IOT":
		return "ABRT"
	case "POLL":
		return "IO"
	}
	return name
}
