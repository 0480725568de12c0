package containerinit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// listenOutside leads the connections over TCP that come from nodes and pods, to addresses other than those that are
// kept, to a new socket that listens at w.Address. A connection that it accepts has the address that was connected to
// as its own. It needs no conntrack, whose table pods could fill.
//
// A rule of nftables hands the packets to the socket (tproxy) and marks them; packets with the mark are this machine's.
// Without a socket they are as unreachable as packets of other protocols. All of it is in the machine's own network, so
// that ordinary users can have it, too.
func listenOutside(w wire.WayOut) (int, error) {
	at, err := netip.ParseAddrPort(w.Address)
	if err != nil || !at.Addr().Is4() || slices.ContainsFunc(w.Keep, func(p netip.Prefix) bool { return !p.Addr().Is4() }) {
		return -1, fmt.Errorf("not IPv4: %q, %v", w.Address, w.Keep)
	}
	fd, err := openSocket(wire.Socket{Network: "tcp4", Address: w.Address, Listen: true, Transparent: true})
	if err != nil {
		return -1, fmt.Errorf("listen for the outside: %w", err)
	}
	if err := leadOutside(at, w.Keep); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

const (
	wayOutName  = "slipway-egress"
	wayOutMark  = 0x51
	wayOutTable = 0x51
	// loopbackIndex is that of the loopback interface in each network namespace, which has it first.
	loopbackIndex = 1
	// wayOutRule is the priority of the rule for what is marked: before the main table's.
	wayOutRule = 100
	mangle     = -150 // the priority at which packets are changed, before routes are looked for
)

func leadOutside(at netip.AddrPort, keep []netip.Prefix) error {
	if err := ignoreMarkOfSources(); err != nil {
		return fmt.Errorf("accept connections to the outside: %w", err)
	}
	if err := tellKernel(unix.NETLINK_ROUTE, markedRoute()); err != nil {
		return fmt.Errorf("add a route for the outside: %w", err)
	}
	if err := tellKernel(unix.NETLINK_ROUTE, markedRule()); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("add a rule for the outside: %w", withoutRules(err))
	}
	return filter(filterMessages(at, keep))
}

// ignoreMarkOfSources has the kernel look for the route back to a source without the packet's mark. Every address is
// this machine's by the route for the mark, sources too, and packets from such are dropped. A namespace inherits the
// setting from the host, where programs for VPNs turn it on.
func ignoreMarkOfSources() error {
	const interfaces, setting = "/proc/sys/net/ipv4/conf", "src_valid_mark"
	there, err := os.ReadDir(interfaces)
	if err != nil {
		return err
	}
	off := func(name string) error { return os.WriteFile(filepath.Join(interfaces, name, setting), []byte("0"), 0) }
	if err := off("default"); err != nil { // first: an interface that comes now has it from here
		return err
	}
	for _, i := range there {
		if err := off(i.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) { // it may have gone
			return err
		}
	}
	return nil
}

// filter has nftables do what messages say.
func filter(messages []message) error {
	if err := tellKernel(unix.NETLINK_NETFILTER, messages...); err != nil {
		return fmt.Errorf("have nftables lead connections to the outside: %w", withoutFilter(err, messages))
	}
	return nil
}

// missing is an error that comes of what the kernel lacks.
type missing struct {
	part string // a module, or an option of the kernel's build
	err  error
}

func (m *missing) Error() string { return "no " + m.part + ": " + m.err.Error() }

func (m *missing) Unwrap() error { return m.err }

// withoutRules is the error of a rule of routes, with what the kernel lacks if that is so.
func withoutRules(err error) error {
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EAFNOSUPPORT) {
		return &missing{"CONFIG_IP_MULTIPLE_TABLES", err}
	}
	return err
}

// withoutFilter is the error of messages to nftables, with what the kernel lacks if that is so: the family of netlink,
// what takes the messages, their chains of IPv4, or the one expression of the rule that is a module of its own.
func withoutFilter(err error, messages []message) error {
	answered, _ := errors.AsType[*refusal](err)
	about := func(kind uint16) bool {
		return answered != nil && answered.message < len(messages) && messages[answered.message].kind == unix.NFNL_SUBSYS_NFTABLES<<8|kind
	}
	switch {
	case answered == nil && errors.Is(err, unix.EPROTONOSUPPORT):
		return &missing{"nfnetlink", err}
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EAFNOSUPPORT), about(unix.NFT_MSG_NEWCHAIN) && errors.Is(err, unix.ENOENT):
		return &missing{"nf_tables", err}
	case about(unix.NFT_MSG_NEWRULE) && errors.Is(err, unix.ENOENT):
		return &missing{"nft_tproxy", err}
	}
	return err
}

// markedRoute makes all addresses this machine's own, in a table of its own.
func markedRoute() message {
	header := []byte{unix.AF_INET, 0, 0, 0, wayOutTable, unix.RTPROT_STATIC, unix.RT_SCOPE_HOST, unix.RTN_LOCAL, 0, 0, 0, 0}
	return message{
		kind: unix.RTM_NEWROUTE, flags: unix.NLM_F_ACK | unix.NLM_F_CREATE | unix.NLM_F_REPLACE,
		body: append(header, number(unix.RTA_OIF, loopbackIndex)...),
	}
}

// markedRule has that table looked at for packets with the mark.
func markedRule() message {
	header := []byte{unix.AF_INET, 0, 0, 0, wayOutTable, 0, 0, unix.FR_ACT_TO_TBL, 0, 0, 0, 0}
	return message{
		kind: unix.RTM_NEWRULE, flags: unix.NLM_F_ACK | unix.NLM_F_CREATE | unix.NLM_F_EXCL,
		body: slices.Concat(header, number(unix.FRA_FWMARK, wayOutMark), number(unix.FRA_PRIORITY, wayOutRule)),
	}
}

// filterMessages make a table of nftables with the rule, in place of an older one.
func filterMessages(at netip.AddrPort, keep []netip.Prefix) []message {
	const batch = uint16(unix.NFNL_SUBSYS_NFTABLES)
	return []message{
		{kind: unix.NFNL_MSG_BATCH_BEGIN, body: netfilterHeader(unix.AF_UNSPEC, batch)},
		filterMessage(unix.NFT_MSG_NEWTABLE, text(unix.NFTA_TABLE_NAME, wayOutName)),
		filterMessage(unix.NFT_MSG_DELTABLE, text(unix.NFTA_TABLE_NAME, wayOutName)),
		filterMessage(unix.NFT_MSG_NEWTABLE, text(unix.NFTA_TABLE_NAME, wayOutName)),
		filterMessage(unix.NFT_MSG_NEWCHAIN,
			text(unix.NFTA_CHAIN_TABLE, wayOutName), text(unix.NFTA_CHAIN_NAME, wayOutName), text(unix.NFTA_CHAIN_TYPE, "filter"),
			nested(unix.NFTA_CHAIN_HOOK, bigNumber(unix.NFTA_HOOK_HOOKNUM, unix.NF_INET_PRE_ROUTING), bigNumber(unix.NFTA_HOOK_PRIORITY, 1<<32+mangle))),
		filterMessage(unix.NFT_MSG_NEWRULE,
			text(unix.NFTA_RULE_TABLE, wayOutName), text(unix.NFTA_RULE_CHAIN, wayOutName), nested(unix.NFTA_RULE_EXPRESSIONS, expressions(at, keep)...)),
		{kind: unix.NFNL_MSG_BATCH_END, body: netfilterHeader(unix.AF_UNSPEC, batch)},
	}
}

func filterMessage(kind uint16, attributes ...[]byte) message {
	return message{
		kind: unix.NFNL_SUBSYS_NFTABLES<<8 | kind, flags: unix.NLM_F_ACK | unix.NLM_F_CREATE,
		body: slices.Concat(netfilterHeader(unix.NFPROTO_IPV4, 0), slices.Concat(attributes...)),
	}
}

func netfilterHeader(family byte, resource uint16) []byte {
	return binary.BigEndian.AppendUint16([]byte{family, unix.NFNETLINK_V0}, resource)
}

// destination is where IPv4 has the address that a packet goes to.
const destination, addressSize = 16, 4

// expressions are those of the rule: TCP, to none of the addresses that are kept, goes to the socket and is marked.
func expressions(at netip.AddrPort, keep []netip.Prefix) [][]byte {
	all := [][]byte{
		expression("meta", bigNumber(unix.NFTA_META_KEY, unix.NFT_META_L4PROTO), bigNumber(unix.NFTA_META_DREG, unix.NFT_REG_1)),
		compare(unix.NFT_CMP_EQ, unix.IPPROTO_TCP),
	}
	for _, p := range keep {
		all = append(all,
			expression("payload", bigNumber(unix.NFTA_PAYLOAD_DREG, unix.NFT_REG_1), bigNumber(unix.NFTA_PAYLOAD_BASE, unix.NFT_PAYLOAD_NETWORK_HEADER),
				bigNumber(unix.NFTA_PAYLOAD_OFFSET, destination), bigNumber(unix.NFTA_PAYLOAD_LEN, addressSize)),
			expression("bitwise", bigNumber(unix.NFTA_BITWISE_SREG, unix.NFT_REG_1), bigNumber(unix.NFTA_BITWISE_DREG, unix.NFT_REG_1),
				bigNumber(unix.NFTA_BITWISE_LEN, addressSize), value(unix.NFTA_BITWISE_MASK, mask(p.Bits())...),
				value(unix.NFTA_BITWISE_XOR, make([]byte, addressSize)...)),
			compare(unix.NFT_CMP_NEQ, p.Masked().Addr().AsSlice()...))
	}
	const register1, register2 = unix.NFT_REG_1, unix.NFT_REG_2
	return append(all,
		immediate(register1, at.Addr().AsSlice()...), immediate(register2, binary.BigEndian.AppendUint16(nil, at.Port())...),
		expression("tproxy", bigNumber(tproxyFamily, unix.NFPROTO_IPV4), bigNumber(tproxyAddress, register1), bigNumber(tproxyPort, register2)),
		immediate(register1, binary.NativeEndian.AppendUint32(nil, wayOutMark)...),
		expression("meta", bigNumber(unix.NFTA_META_KEY, unix.NFT_META_MARK), bigNumber(unix.NFTA_META_SREG, register1)))
}

// tproxyFamily and the others are attributes of the expression tproxy, of linux/netfilter/nf_tables.h.
const tproxyFamily, tproxyAddress, tproxyPort = 1, 2, 3

func expression(name string, attributes ...[]byte) []byte {
	return nested(unix.NFTA_LIST_ELEM, text(unix.NFTA_EXPR_NAME, name), nested(unix.NFTA_EXPR_DATA, attributes...))
}

// compare goes on where the first register is, or is not, that.
func compare(how uint32, data ...byte) []byte {
	return expression("cmp", bigNumber(unix.NFTA_CMP_SREG, unix.NFT_REG_1), bigNumber(unix.NFTA_CMP_OP, how), value(unix.NFTA_CMP_DATA, data...))
}

func immediate(register uint32, data ...byte) []byte {
	return expression("immediate", bigNumber(unix.NFTA_IMMEDIATE_DREG, register), value(unix.NFTA_IMMEDIATE_DATA, data...))
}

func value(kind uint16, data ...byte) []byte {
	return nested(kind, attribute(unix.NFTA_DATA_VALUE, data...))
}

// mask has so many bits set.
func mask(bits int) []byte {
	return binary.BigEndian.AppendUint32(nil, ^uint32(0)<<(8*addressSize-bits))
}
