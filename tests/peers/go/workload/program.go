package workload

import (
	"time"
)

// Lock is one attempt after the other.
type Lock interface {
	Lock() error
	Unlock() error
}

// Make gives the lock at a path, one for each goroutine.
type Make func(path string) Lock

// Program is the workloads for locks that block their goroutine. None of them tells fencing tokens.
type Program struct {
	make    Make
	path    string
	lock    Lock
	places  []Lock
	waiters chan error
	waiting int
}

type cycles struct {
	Nanos  []int64 `json:"nanos"`
	Tokens []int64 `json:"tokens"`
}

type paths struct {
	Nanos  int64     `json:"nanos"`
	Tokens [][]int64 `json:"tokens"`
}

type shares struct {
	Begins   []int64 `json:"begins"`
	Grants   []int64 `json:"grants"`
	Releases []int64 `json:"releases"`
	Tokens   []int64 `json:"tokens"`
}

type queued struct {
	Queued int `json:"queued"`
}

// New is a program that locks at a path, and below it where it needs several.
func New(make Make, path string) *Program {
	return &Program{make: make, path: path, lock: make(path)}
}

func cycle(lock Lock) error {
	if err := lock.Lock(); err != nil {
		return err
	}
	return lock.Unlock()
}

func (program *Program) cycles(count int) (any, error) {
	answer := cycles{Nanos: make([]int64, 0, count), Tokens: []int64{}}
	for i := 0; i < count; i++ {
		start := now()
		if err := cycle(program.lock); err != nil {
			return nil, err
		}
		answer.Nanos = append(answer.Nanos, now()-start)
	}
	return answer, nil
}

func (program *Program) paths(count, each int) (any, error) {
	for number := len(program.places); number < count; number++ {
		program.places = append(program.places, program.make(pathOf(program.path, number)))
	}
	ended := make(chan error)
	start := now()
	for _, lock := range program.places[:count] {
		go func(lock Lock) {
			var err error
			for i := 0; i < each && err == nil; i++ {
				err = cycle(lock)
			}
			ended <- err
		}(lock)
	}
	if err := all(ended, count); err != nil {
		return nil, err
	}
	return paths{Nanos: now() - start, Tokens: [][]int64{}}, nil
}

func (program *Program) share(millis, pauseMicros int) (any, error) {
	answer := shares{Begins: []int64{}, Grants: []int64{}, Releases: []int64{}, Tokens: []int64{}}
	end := now() + int64(millis)*1e6
	for now() < end {
		answer.Begins = append(answer.Begins, now())
		if err := program.lock.Lock(); err != nil {
			return nil, err
		}
		answer.Grants = append(answer.Grants, now())
		time.Sleep(time.Duration(pauseMicros) * time.Microsecond)
		answer.Releases = append(answer.Releases, now())
		if err := program.lock.Unlock(); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

func (program *Program) queue(count int) (any, error) {
	program.waiters, program.waiting = make(chan error), count
	for i := 0; i < count; i++ {
		lock := program.make(program.path)
		go func() { program.waiters <- cycle(lock) }()
	}
	return queued{Queued: count}, nil
}

func (program *Program) drain() (any, error) {
	start := now()
	if err := all(program.waiters, program.waiting); err != nil {
		return nil, err
	}
	return cycles{Nanos: []int64{now() - start}, Tokens: []int64{}}, nil
}

func all(ended <-chan error, count int) error {
	var first error
	for i := 0; i < count; i++ {
		if err := <-ended; err != nil && first == nil {
			first = err
		}
	}
	return first
}
