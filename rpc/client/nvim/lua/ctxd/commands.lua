-- What :Ctxd does. Every command returns at once and shows its answer when it comes.
local daemon = require('ctxd.daemon')
local vault = require('ctxd.vault')
local view = require('ctxd.view')
local M = {}

-- selection is the text of the range that a command was given, or nil. What was selected by
-- characters is taken by characters.
local function selection(opts)
  if not opts.range or opts.range == 0 then
    return nil
  end
  local lines = vim.api.nvim_buf_get_lines(0, opts.line1 - 1, opts.line2, false)
  local from, to = vim.fn.getpos("'<"), vim.fn.getpos("'>")
  if vim.fn.visualmode() == 'v' and from[2] == opts.line1 and to[2] == opts.line2 and #lines > 0 then
    local last = lines[#lines]
    -- The mark is on the first byte of the last character.
    local stop = to[3] + math.max(#vim.fn.matchstr(last:sub(to[3]), '^.'), 1) - 1
    lines[#lines] = last:sub(1, stop)
    lines[1] = lines[1]:sub(from[3])
  end
  return table.concat(lines, '\n')
end

-- asked passes on the words of the command, or what the person types at a prompt.
local function asked(opts, prompt, done)
  if opts.text ~= '' then
    return done(opts.text)
  end
  vim.ui.input({ prompt = prompt }, function(text)
    if text and text ~= '' then
      done(text)
    end
  end)
end

-- check shows an error, and passes on what there is otherwise.
local function check(done)
  return function(err, ...)
    if err then
      view.fail(err)
    else
      done(...)
    end
  end
end

-- show lists the hits of a search.
local function show(title, result, nothing)
  if #result.hits == 0 then
    return view.say(nothing)
  end
  vault.files(
    result.hits,
    check(function(hits)
      view.list(title, hits)
    end)
  )
end

local commands = {}

function commands.search(opts)
  asked(opts, 'Search: ', function(query)
    daemon.call(
      'notes.search',
      { query = query, limit = 30 },
      check(function(result)
        show('ctxd search ' .. query, result, ('nothing is about %s'):format(query))
      end)
    )
  end)
end

function commands.related()
  vault.note(
    0,
    check(function(note)
      daemon.call(
        'notes.similar',
        { ref = note.id, limit = 20 },
        check(function(result)
          show('ctxd related ' .. note.title, result, ('no note is related to %s'):format(note.title))
        end)
      )
    end)
  )
end

-- assembled shows a prompt and leaves it in the registers.
local function assembled(opts, result)
  local text = result.system
  if text == '' then
    return view.say('the prompt is empty: nothing was mentioned, and nothing found')
  end
  vim.fn.setreg('"', text)
  if vim.fn.has('clipboard') == 1 then
    vim.fn.setreg('+', text)
  end
  if not opts.bang then
    view.open('context', vim.split(text, '\n', { plain = true }), { filetype = 'markdown' })
  end
  local names = vim.tbl_map(function(section)
    return section.name
  end, result.sections)
  view.say(('prompt of %d characters (%s), copied'):format(vim.fn.strchars(text), table.concat(names, ', ')))
end

function commands.context(opts)
  local text = opts.text
  if opts.selection then
    text = text == '' and opts.selection or text .. '\n\n' .. opts.selection
  end
  local function assemble(params)
    daemon.call(
      'context.assemble',
      params,
      check(function(result)
        assembled(opts, result)
      end)
    )
  end
  if text ~= '' then
    return assemble({ text = text })
  end
  -- Without words the prompt is about the note.
  vault.note(
    0,
    check(function(note)
      assemble({ text = note.title, mentionedNoteIds = { note.id } })
    end)
  )
end

-- run runs the program and passes on what it printed.
local function run(args, done)
  local out, err = {}, {}
  local cmd = { require('ctxd').config.cmd }
  vim.list_extend(cmd, args)
  local job = vim.fn.jobstart(cmd, {
    stdout_buffered = true,
    stderr_buffered = true,
    on_stdout = function(_, data)
      out = data
    end,
    on_stderr = function(_, data)
      err = data
    end,
    on_exit = function(_, status)
      if status == 0 then
        done(nil, out)
      else
        done({ message = vim.trim(table.concat(err, ' ')):gsub('^Error: ', '') })
      end
    end,
  })
  if job <= 0 then
    done({ message = ('%s does not start; see :help ctxd-install'):format(cmd[1]) })
  end
end

-- browse opens a page with the program that the system has for it.
local function browse(path)
  if vim.ui.open then
    return vim.ui.open(path)
  end
  local opener = vim.fn.has('mac') == 1 and { 'open', path }
    or vim.fn.has('win32') == 1 and { 'cmd', '/c', 'start', '', path }
    or { 'xdg-open', path }
  if vim.fn.executable(opener[1]) == 1 then
    vim.fn.jobstart(opener, { detach = true })
  else
    view.say('the page is ' .. path)
  end
end

local function draw(opts, node)
  if opts.bang then
    local path = vim.fn.tempname() .. '.svg'
    return run(
      { 'inspect', 'graph', node, '--depth', '2', '--format', 'svg', '-o', path },
      check(function()
        browse(path)
      end)
    )
  end
  run(
    { 'inspect', 'graph', node, '--color', 'never' },
    check(function(lines)
      while lines[#lines] == '' do
        table.remove(lines)
      end
      view.open('graph', lines)
    end)
  )
end

function commands.graph(opts)
  if opts.text ~= '' then
    return draw(opts, opts.text)
  end
  vault.note(
    0,
    check(function(note)
      draw(opts, note.id)
    end)
  )
end

local answers = {} -- by the id that we gave to the question: the buffer of the answer
local conversations = {} -- by buffer
local replies = {} -- by the id of the answer: its buffer
local begins = {} -- by the id of the answer: how many lines were before it

-- told writes a piece of an answer as it comes.
local function told(delta)
  if delta.clientMessageId and answers[delta.clientMessageId] then
    replies[delta.messageId] = answers[delta.clientMessageId]
    conversations[replies[delta.messageId]] = delta.conversationId
  end
  local buf = replies[delta.messageId]
  if not buf then
    return
  end
  if delta.type == 'text' then
    begins[delta.messageId] = begins[delta.messageId] or vim.api.nvim_buf_line_count(buf) - 1
    view.append(buf, delta.text)
  elseif delta.type == 'replace' then
    view.cut(buf, begins[delta.messageId])
    view.append(buf, delta.text or '')
  elseif delta.type == 'done' then
    replies[delta.messageId], begins[delta.messageId] = nil, nil
  end
end

local asked_so_far = 0

function commands.ask(opts)
  asked(opts, 'Ask: ', function(question)
    local text = question
    if opts.selection then
      text = text .. '\n\n> ' .. opts.selection:gsub('\n', '\n> ')
    end
    local buf = vim.fn.bufnr('^ctxd://answer$')
    if buf >= 0 and vim.b[buf].ctxd_asking then
      return view.say('an answer is being given; CTRL-C in its window stops it')
    end
    local conversation = buf >= 0 and conversations[buf] or nil
    if opts.bang or not conversation then
      conversation = nil
      buf = view.open('answer', { '# ' .. question, '', '' }, { filetype = 'markdown', focus = false })
    else
      if vim.fn.bufwinid(buf) < 0 then
        view.open('answer', vim.api.nvim_buf_get_lines(buf, 0, -1, false), { filetype = 'markdown', focus = false })
      end
      view.append(buf, '\n\n# ' .. question .. '\n\n')
    end
    local win = vim.fn.bufwinid(buf)
    vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
    vim.keymap.set('n', '<C-c>', function()
      if conversations[buf] then
        daemon.call('chat.cancel', { conversationId = conversations[buf] }, function() end)
      end
    end, { buffer = buf, desc = 'Stop the answer' })

    asked_so_far = asked_so_far + 1
    local id = ('nvim-%d-%d-%d'):format(vim.fn.getpid(), vim.loop.hrtime(), asked_so_far)
    answers[id] = buf
    vim.b[buf].ctxd_asking = true
    daemon.listen('chat.delta', told)
    daemon.call('chat.send', { text = text, conversationId = conversation, clientMessageId = id }, function(err, result)
      answers[id] = nil
      if vim.api.nvim_buf_is_valid(buf) then
        vim.b[buf].ctxd_asking = false
      end
      if err then
        return view.fail(err)
      end
      conversations[buf] = result.conversationId
      for _, warning in ipairs(result.warnings or {}) do
        view.say(warning.message)
      end
    end)
  end)
end

function commands.remember(opts)
  local function remember(statement)
    daemon.call(
      'memory.add',
      { statement = statement },
      check(function(result)
        view.say(('remembered as #%d, @%s'):format(result.memory.number, result.memory.handle))
      end)
    )
  end
  if opts.selection and opts.text == '' then
    return remember(vim.trim(opts.selection))
  end
  asked(opts, 'Remember: ', remember)
end

local names = vim.tbl_keys(commands)
table.sort(names)

--- run does what a command line orders.
function M.run(opts)
  local name = opts.fargs[1]
  if not name then
    return view.say('one of: ' .. table.concat(names, ', '))
  end
  if not commands[name] then
    return view.fail({ message = ('there is no :Ctxd %s; there are %s'):format(name, table.concat(names, ', ')) })
  end
  commands[name]({
    text = vim.trim(opts.args:sub(#name + 1)),
    bang = opts.bang,
    selection = selection(opts),
  })
end

--- complete completes the name of a command, and titles and names of what it takes.
function M.complete(lead, line)
  local given, rest = line:match('Ctxd!?%s+(%S+)%s+(.*)$')
  if not given then
    return vim.tbl_filter(function(name)
      return vim.startswith(name, lead)
    end, names)
  end
  if given ~= 'graph' then
    return {}
  end
  -- A candidate takes the place of the last word alone, so it is what follows the words before it.
  local result = daemon.wait('notes.complete', { prefix = rest, limit = 20 })
  local kept = rest:sub(1, #rest - #lead)
  local titles = {}
  for _, note in ipairs(result and result.items or {}) do
    if vim.startswith(note.title:lower(), kept:lower()) then
      table.insert(titles, note.title:sub(#kept + 1))
    end
  end
  return titles
end

return M
