-- Completion of links, mentions and tags. The language server answers where it is attached,
-- since it knows what is typed and not yet saved; elsewhere the daemon does. Both give items
-- of the Language Server Protocol.
local daemon = require('ctxd.daemon')
local M = {}

local limit = 30 -- items of a list

-- units is the number of code units in the first bytes of a line, and bytes its inverse.
local function units(line, bytes, encoding)
  if encoding == 'utf-8' then
    return bytes
  end
  local wide, utf16 = vim.str_utfindex(line, bytes)
  return encoding == 'utf-32' and wide or utf16 or wide
end

local function bytes(line, count, encoding)
  if encoding == 'utf-8' then
    return math.min(count, #line)
  end
  local all, all16 = vim.str_utfindex(line)
  local most = encoding == 'utf-32' and all or all16 or all
  return vim.str_byteindex(line, math.min(count, most), encoding ~= 'utf-32')
end

-- edit is what an item writes from a column to the cursor, both in bytes.
local function edit(at, from, text)
  return {
    range = {
      start = { line = at.row, character = units(at.line, from, 'utf-16') },
      ['end'] = { line = at.row, character = units(at.line, at.col, 'utf-16') },
    },
    newText = text,
  }
end

local kinds = vim.lsp.protocol.CompletionItemKind

-- rules tell from the text before the cursor what is completed. Each has a pattern, whose
-- first capture is where the text begins that an item replaces and whose second is the prefix,
-- and the calls that give items.
local rules = {
  {
    pattern = '%[%[()([^%[%]|#^]*)$',
    method = 'notes.complete',
    items = function(result, at, from)
      local close = at.line:sub(at.col + 1, at.col + 2) == ']]' and '' or ']]'
      local items = {}
      for _, note in ipairs(result.items) do
        if note.insert then
          table.insert(items, {
            label = note.title,
            kind = kinds.File,
            detail = note.path,
            textEdit = edit(at, from, note.insert .. close),
          })
        end
      end
      return items
    end,
  },
  {
    pattern = '%f[^%s%z(]@()([^%s@%[%]]*)$',
    method = 'entities.complete',
    items = function(result, at, from)
      local items = {}
      for _, entity in ipairs(result.items) do
        table.insert(items, {
          label = entity.name,
          kind = kinds.Reference,
          detail = entity.type,
          textEdit = edit(at, from, entity.insert or entity.name),
        })
      end
      return items
    end,
  },
  {
    pattern = '%f[^%s%z(]#()([^%s#%[%]]+)$',
    method = 'tags.list',
    items = function(result, at, from)
      local items = {}
      for _, tag in ipairs(result.tags) do
        table.insert(items, {
          label = tag.name,
          kind = kinds.Keyword,
          detail = ('%d notes'):format(tag.count),
          textEdit = edit(at, from, tag.name),
        })
      end
      return items
    end,
  },
}

-- ask has the daemon complete. A rule that does not apply gives an empty list.
local function ask(at, done)
  local before = at.line:sub(1, at.col)
  for _, rule in ipairs(rules) do
    local from, prefix = before:match(rule.pattern)
    if from then
      daemon.call(rule.method, { prefix = prefix, limit = limit }, function(err, result)
        done(err, result and rule.items(result, at, from - 1) or {}, 'utf-16')
      end)
      return
    end
  end
  done(nil, {}, 'utf-16')
end

-- server has the language server complete.
local function server(client, buf, at, done)
  local encoding = client.offset_encoding or 'utf-16'
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    position = { line = at.row, character = units(at.line, at.col, encoding) },
    context = { triggerKind = 1 },
  }
  local function answer(err, result)
    result = result ~= vim.NIL and result or {}
    done(err, result.items or result, encoding)
  end
  if vim.fn.has('nvim-0.11') == 1 then
    return client:request('textDocument/completion', params, answer, buf)
  end
  return client.request('textDocument/completion', params, answer, buf)
end

--- request passes on the items for the text before the cursor, and the unit of their columns.
--- @param at table row from 0, line, col in bytes
function M.request(buf, at, done)
  local client = require('ctxd.lsp').client(buf)
  if client then
    server(client, buf, at, done)
  else
    ask(at, done)
  end
end

--- here is where the cursor is.
function M.here()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  return { row = row - 1, col = col, line = vim.api.nvim_get_current_line() }
end

-- entry turns an item into one of complete-items. It may write only up to the cursor: what the
-- item replaces behind it is left out of the word where it stands there already.
local function entry(item, at, encoding)
  local change = item.textEdit or {}
  local range = change.range or change.insert
  local text = change.newText or item.insertText or item.label
  if item.insertTextFormat == 2 then -- a snippet, of which the server writes escapes alone
    text = text:gsub('\\([$}\\])', '%1')
  end
  local from = range and bytes(at.line, range.start.character, encoding)
  if range then
    local behind = at.line:sub(at.col + 1, bytes(at.line, range['end'].character, encoding))
    if behind ~= '' and vim.endswith(text, behind) then
      text = text:sub(1, #text - #behind)
    end
  end
  return {
    from = from,
    item = {
      word = text,
      abbr = item.label,
      menu = item.detail or '',
      info = type(item.documentation) == 'table' and item.documentation.value or item.documentation or '',
      icase = 1,
      dup = 1,
      empty = 1,
    },
  }
end

local found -- what the first of the two calls of omnifunc found for the second

--- omnifunc is called twice for one completion: for the column where it begins, then for the items.
function M.omnifunc(findstart, base)
  if findstart ~= 1 and findstart ~= '1' then
    return found or {}
  end
  found = nil
  local at, outcome = M.here(), nil
  M.request(vim.api.nvim_get_current_buf(), at, function(err, items, encoding)
    outcome = { err = err, items = items or {}, encoding = encoding }
  end)
  vim.wait(require('ctxd').config.timeout, function()
    return outcome ~= nil
  end, 2)
  if not outcome or outcome.err or #outcome.items == 0 then
    return -3 -- no completion, and insert mode goes on
  end
  table.sort(outcome.items, function(a, b)
    return (a.sortText or '') < (b.sortText or '')
  end)
  local from
  found = {}
  for _, item in ipairs(outcome.items) do
    local e = entry(item, at, outcome.encoding)
    from = from or e.from
    if e.from == from then
      table.insert(found, e.item)
    end
  end
  return from or at.col
end

return M
