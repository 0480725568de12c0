package cri

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// stopSignal is the one that the pod, or else the image, asks for. A signal that there is not stands for SIGTERM: the
// container is to end all the same.
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

// firstRealTime and lastRealTime are the signals of real time, as the C library counts them. No other number is higher.
const firstRealTime, lastRealTime = 34, 64

// signalOf is a signal by its number, or by its name with or without SIG; 0 if there is none.
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

// realTime is a signal of real time by its distance from the first or last one, as +3.
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

// first is the usual name of a signal that has several.
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
