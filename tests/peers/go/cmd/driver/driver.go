package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

type session struct {
	conn     *zk.Conn
	identity string
	// Versions of the library panic at a second close.
	closed bool
}

type lock struct {
	session, path, identity string
}

type guard struct {
	session string
	lock    *zk.Lock
	lost    bool
}

type driver struct {
	mutex    sync.Mutex
	sessions map[string]*session
	locks    map[string]lock
	guards   map[string]*guard
}

func newDriver() *driver {
	return &driver{sessions: make(map[string]*session), locks: make(map[string]lock), guards: make(map[string]*guard)}
}

// Answers one request.
func (d *driver) obey(asking request) {
	verbs := map[string]func(map[string]string) ([]field, error){
		"connect": d.connect, "mutex": d.open, "lock": d.lock, "release": d.release, "state": d.state,
		"session_state": d.sessionState, "close": d.close,
	}
	verb, known := verbs[asking.verb]
	if !known {
		tell(asking.id, "misunderstood", field{"message", "go-zookeeper's lock has no " + asking.verb})
		return
	}
	answer, err := verb(asking.fields)
	if err != nil {
		path := d.find(asking.fields["lock"]).path
		tell(asking.id, "error", field{"kind", kind(err)}, field{"path", path}, field{"message", err.Error()})
		return
	}
	tell(asking.id, "ok", answer...)
}

func kind(err error) string {
	switch {
	case errors.Is(err, zk.ErrSessionExpired):
		return "SessionExpired"
	case errors.Is(err, zk.ErrNotLocked):
		return "NotHeld"
	case errors.Is(err, zk.ErrClosing):
		return "Closed"
	case errors.Is(err, zk.ErrConnectionClosed), errors.Is(err, zk.ErrNoServer):
		return "Unavailable"
	default:
		return "Internal"
	}
}

func (d *driver) connect(fields map[string]string) ([]field, error) {
	timeout, err := strconv.Atoi(fields["session_timeout_ms"])
	if err != nil {
		return nil, err
	}
	name := fields["session"]
	connected := make(chan struct{})
	var once sync.Once
	conn, events, err := zk.Connect(strings.Split(fields["hosts"], ","), time.Duration(timeout)*time.Millisecond,
		zk.WithLogInfo(false), zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	d.sessions[name] = &session{conn: conn, identity: fields["identity"]}
	d.mutex.Unlock()
	go func() {
		for event := range events {
			if event.Type != zk.EventSession {
				continue
			}
			d.changed(name, event.State)
			if event.State == zk.StateHasSession {
				once.Do(func() { close(connected) })
			}
		}
	}()
	select {
	case <-connected:
		return nil, nil
	case <-time.After(30 * time.Second):
		return nil, zk.ErrNoServer
	}
}

func word(state zk.State) string {
	switch state {
	case zk.StateHasSession:
		return "connected"
	case zk.StateDisconnected:
		return "suspended"
	case zk.StateExpired:
		return "expired"
	default:
		return ""
	}
}

// The library tells of sessions, not of locks: those that were held are lost with theirs.
func (d *driver) changed(name string, state zk.State) {
	if word(state) == "" {
		return
	}
	tell("!", "state", field{"state", word(state)})
	if state != zk.StateExpired {
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for guardName, guard := range d.guards {
		if guard.session == name && !guard.lost {
			guard.lost = true
			tell("!", "lost", field{"guard", guardName})
		}
	}
}

func (d *driver) find(name string) lock {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.locks[name]
}

func (d *driver) conn(name string) *session {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.sessions[name]
}

func (d *driver) open(fields map[string]string) ([]field, error) {
	identity := fields["data"]
	if identity == "" {
		identity = d.conn(fields["session"]).identity
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.locks[fields["lock"]] = lock{fields["session"], fields["path"], identity}
	return nil, nil
}

func (d *driver) lock(fields map[string]string) ([]field, error) {
	ours := d.find(fields["lock"])
	conn := d.conn(ours.session).conn
	held := zk.NewLock(conn, ours.path, zk.WorldACL(zk.PermAll))
	if err := held.LockWithData([]byte(ours.identity)); err != nil {
		return nil, err
	}
	// The library tells nobody which node it made.
	node := reflect.ValueOf(held).Elem().FieldByName("lockPath").String()
	exists, stat, err := conn.Exists(node)
	if err == nil && !exists {
		err = fmt.Errorf("%s is gone", node)
	}
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.guards[fields["guard"]] = &guard{session: ours.session, lock: held}
	return []field{{"token", stat.Czxid}, {"node", node}}, nil
}

func (d *driver) release(fields map[string]string) ([]field, error) {
	d.mutex.Lock()
	held := d.guards[fields["guard"]]
	delete(d.guards, fields["guard"])
	d.mutex.Unlock()
	return nil, held.lock.Unlock()
}

func (d *driver) state(fields map[string]string) ([]field, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	held := d.guards[fields["guard"]]
	state, believes := "released", "no"
	if held != nil && held.lost {
		state = "lost"
	} else if held != nil {
		state, believes = "suspended", "yes"
		if d.sessions[held.session].conn.State() == zk.StateHasSession {
			state = "held"
		}
	}
	return []field{{"state", state}, {"held", believes}}, nil
}

func (d *driver) sessionState(fields map[string]string) ([]field, error) {
	return []field{{"state", word(d.conn(fields["session"]).conn.State())}}, nil
}

func (d *driver) close(fields map[string]string) ([]field, error) {
	ours := d.conn(fields["session"])
	ours.conn.Close()
	d.mutex.Lock()
	defer d.mutex.Unlock()
	ours.closed = true
	return nil, nil
}

// Ends as a program in Go does that closes its connections.
func (d *driver) exit() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, session := range d.sessions {
		if !session.closed {
			session.conn.Close()
		}
	}
}
