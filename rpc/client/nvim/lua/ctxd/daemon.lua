-- The connection to the daemon. `ctxd stdio` starts a daemon where none answers. The
-- connection is made for the first call and made again after it was lost.
local M = {}

local client -- of vim.lsp.rpc; nil while there is no connection
local ready = false -- the daemon has answered to initialize
local waiting = {} -- what is sent as soon as it has
local listeners = {} -- of notifications, by method

-- plain turns vim.NIL, which stands for null, into nil.
local function plain(value)
  if value == vim.NIL then
    return nil
  end
  return value
end

-- settle sends what waits, or fails it.
local function settle(err)
  local calls = waiting
  waiting = {}
  for _, call in ipairs(calls) do
    if err then
      call.done(err)
    else
      call.send()
    end
  end
end

-- lost forgets the connection. Calls that wait for an answer get none from vim.lsp.rpc, so
-- they are failed here.
local pending = {}
local function lost()
  client, ready = nil, false
  local calls = pending
  pending = {}
  local err = { message = 'the connection to ctxd was lost' }
  settle(err)
  for done in pairs(calls) do
    done(err)
  end
end

local function start()
  local program = require('ctxd').config.cmd
  if vim.fn.executable(program) == 0 then
    return nil, { message = ('there is no program %s; see :help ctxd-install'):format(program) }
  end
  local this
  local dispatchers = {
    notification = function(method, params)
      if listeners[method] then
        listeners[method](params)
      end
    end,
    on_error = function() end,
    on_exit = function()
      vim.schedule(function()
        if client == this then
          lost()
        end
      end)
    end,
  }
  if vim.fn.has('nvim-0.10') == 1 then
    this = vim.lsp.rpc.start({ program, 'stdio' }, dispatchers)
  else
    this = vim.lsp.rpc.start(program, { 'stdio' }, dispatchers)
  end
  if not this then
    return nil, { message = ('%s does not start'):format(program) }
  end
  client = this
  local version = vim.version()
  local hello = {
    clientInfo = { name = 'neovim', version = ('%d.%d.%d'):format(version.major, version.minor, version.patch) },
    processId = vim.fn.getpid(),
    protocolVersion = '2.0',
  }
  this.request('initialize', hello, function(err)
    if err then
      lost()
      return
    end
    this.notify('initialized', vim.empty_dict())
    ready = true
    settle()
  end)
  return this
end

--- call calls a method of the daemon. done gets an error, a table with message, or nil, and the result.
--- @param method string
--- @param params table
--- @param done function
function M.call(method, params, done)
  local answered = false
  local function once(err, result)
    if not answered then
      answered = true
      done(plain(err), plain(result))
    end
  end
  if not client then
    local _, err = start()
    if err then
      vim.schedule(function()
        once(err)
      end)
      return
    end
  end
  if vim.tbl_isempty(params) then
    params = vim.empty_dict()
  end
  local function send()
    pending[once] = true
    client.request(method, params, function(err, result)
      pending[once] = nil
      once(err, result)
    end)
  end
  if ready then
    send()
  else
    table.insert(waiting, { send = send, done = once })
  end
end

--- wait calls a method and waits for the answer, for config.timeout at most.
--- @return table|nil result
--- @return table|nil err
function M.wait(method, params)
  local outcome
  M.call(method, params, function(err, result)
    outcome = { err = err, result = result }
  end)
  local patience = require('ctxd').config.timeout
  vim.wait(patience, function()
    return outcome ~= nil
  end, 2)
  if not outcome then
    return nil, { message = ('ctxd did not answer within %d ms'):format(patience) }
  end
  return outcome.result, outcome.err
end

--- listen has one function get the notifications of a method.
function M.listen(method, listener)
  listeners[method] = listener
end

--- close ends the connection. Every call that the daemon has accepted is done.
function M.close()
  if client and ready then
    client.notify('exit', vim.empty_dict())
  end
  client, ready = nil, false
end

return M
