-- Which vault a file lies in, and where the file of a note is.
local daemon = require('ctxd.daemon')
local M = {}

-- normal is a path without links, with one form for each folder.
local function normal(path)
  local real = vim.loop.fs_realpath(path)
  return (real or vim.fn.fnamemodify(path, ':p')):gsub('\\', '/'):gsub('/+$', '')
end

--- within tells whether a path is a folder or lies below it, and returns what follows the folder.
function M.within(path, folder)
  path, folder = normal(path), normal(folder)
  if path == folder then
    return ''
  end
  if path:sub(1, #folder + 1) == folder .. '/' then
    return path:sub(#folder + 2)
  end
end

--- marked returns the nearest folder above a file that contains one of the markers.
function M.marked(path)
  local folder = vim.fn.fnamemodify(path, ':p:h')
  while true do
    for _, marker in ipairs(require('ctxd').config.markers) do
      if vim.loop.fs_stat(folder .. '/' .. marker) then
        return normal(folder)
      end
    end
    local above = vim.fn.fnamemodify(folder, ':h')
    if above == folder then
      return nil
    end
    folder = above
  end
end

--- of passes on the vault that a file lies in, as vault.list gives it, with the path of the file in it.
function M.of(path, done)
  daemon.call('vault.list', {}, function(err, result)
    if err then
      return done(err)
    end
    local best, inside
    for _, vault in ipairs(result.vaults) do
      local rest = M.within(path, vault.path)
      if rest and (not best or #vault.path > #best.path) then
        best, inside = vault, rest
      end
    end
    done(nil, best, inside)
  end)
end

--- root passes on the folder of the vault of a file, or nil for a file of none: where the person's
--- function says, where a marker lies, or what the daemon knows.
function M.root(path, done)
  local config = require('ctxd').config
  if config.root then
    return done(config.root(path))
  end
  local marked = M.marked(path)
  if marked then
    return done(marked)
  end
  M.of(path, function(_, vault)
    done(vault and normal(vault.path))
  end)
end

--- note passes on the note that a buffer shows.
function M.note(buf, done)
  local path = vim.api.nvim_buf_get_name(buf)
  if path == '' then
    return done({ message = 'this buffer has no file, so it is no note' })
  end
  M.of(path, function(err, vault, inside)
    if err then
      return done(err)
    end
    if not vault then
      return done({ message = 'this file is in no vault of ctxd', data = { hint = 'ctxd import FOLDER' } })
    end
    daemon.call('notes.get', { ref = inside, vault = vault.vault }, done)
  end)
end

--- files passes on records with the field file: the absolute path of each record of a vault.
function M.files(records, done)
  daemon.call('vault.list', {}, function(err, result)
    if err then
      return done(err)
    end
    local folders = {}
    for _, vault in ipairs(result.vaults) do
      folders[vault.vault] = vault.path
    end
    for _, record in ipairs(records) do
      local folder = folders[record.vault] or (not record.vault and #result.vaults == 1 and result.vaults[1].path)
      if folder and record.path then
        record.file = folder .. '/' .. record.path
      end
    end
    done(nil, records)
  end)
end

return M
